"""`whence sql`: the lineage of SQL text, its check, and its table schemas."""
