"""Routes for operators: health, metrics, status, quarantine; and the scheduled builds of the adjacency file."""
