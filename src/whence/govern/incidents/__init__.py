"""Incidents: what is wrong now, with one incident for each root, and what people do about it."""
