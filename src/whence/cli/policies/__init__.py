"""Work of `whence policy`."""
