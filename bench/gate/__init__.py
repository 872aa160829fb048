"""Measurements of the gate."""
