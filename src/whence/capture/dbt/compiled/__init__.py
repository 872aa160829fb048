"""The SQL of models, compiled or rendered, and the column lineage in it."""
