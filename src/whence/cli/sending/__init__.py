"""Sends events and probes to a collector: from files, from captures, and for `whence doctor`."""
