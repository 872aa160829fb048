"""The rows of one event, including the lineage in its job's SQL."""
