"""Reading of log records into readings, in Arrow batches in the executors."""
