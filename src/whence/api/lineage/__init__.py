"""The routes that ask the graph: lineage, impact, paths, why, history, search."""
