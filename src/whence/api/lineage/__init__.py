"""Routes that query the graph: lineage, impact, paths, why, history, search."""
