"""`whence sql`: the lineage of SQL text, its check, and the schemas that it is read with."""
