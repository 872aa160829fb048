"""What users ask of the graph: upstream, downstream, impact, paths, columns, why."""
