"""Incidents over HTTP, and the recording of their transitions."""
