"""What changed upstream of a node in a period, as one timeline: each source of changes is one module."""
