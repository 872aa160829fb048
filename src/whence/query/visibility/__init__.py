"""What one viewer may see: the graph, the catalog, facets and events, with pseudonyms in the place of hidden names."""
