"""How fast a running server answers."""
