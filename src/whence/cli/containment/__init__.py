"""The work of `whence contain` and `whence rerun`."""
