"""The driver of captures that poll an API or read files: cursors, windows, and what became of a poll."""
