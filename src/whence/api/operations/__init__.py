"""The routes of operations: health, metrics, status, quarantine; and the scheduled builds of the adjacency."""
