"""The snapshots of one request: of the graph, of the catalog, and raw events."""
