"""Work of `whence slo`."""
