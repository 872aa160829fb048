"""Changes over time: histories of nodes, differences between two states, schemas and versions."""
