"""Work of `whence report`."""
