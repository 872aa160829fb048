"""From what a person types to nodes: resolving, searching, filtering, describing."""
