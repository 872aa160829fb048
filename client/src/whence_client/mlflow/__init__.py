"""MLflow in the job's own process: the context that its runs get."""
