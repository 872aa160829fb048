"""What one request may ask of the store: its snapshot of the graph, of the catalog, and raw events."""
