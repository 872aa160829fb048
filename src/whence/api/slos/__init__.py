"""Service level objectives over HTTP, and the recording of their transitions."""
