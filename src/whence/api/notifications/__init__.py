"""Sending notifications of incidents while the server runs."""
