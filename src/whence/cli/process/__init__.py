"""Processes: the supervisor, its children, `whence up` and `whence demo`."""
