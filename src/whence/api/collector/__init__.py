"""Collection of events: read, check, append durably, answer."""
