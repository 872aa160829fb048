"""Collecting events: read, checked, appended durably, answered."""
