"""Routes of the governance dashboard: labels by namespace, what rules say, the access review."""
