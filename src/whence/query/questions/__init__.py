"""Questions to the graph: upstream, downstream, impact, paths, columns, why."""
