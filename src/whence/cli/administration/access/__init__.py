"""`whence keys`, `whence access` and `whence audit`: who may do what, and who did what."""
