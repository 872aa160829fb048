"""Work of `whence incident`."""
