"""Breadth-first traversal of the lineage graph, connected components, and the edges of a result."""
