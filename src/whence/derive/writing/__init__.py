"""Writing of rows to the store: column expressions, the executors' merge, the recomputation afterwards."""
