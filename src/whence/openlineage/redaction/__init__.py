"""Redaction of events before they are stored, with the secrets' shapes of `whence_client.redaction`."""
