"""Capture from Spark Connect: the commands of a client, and the plans that its server explains in text."""
