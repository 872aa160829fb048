"""How much of a column's values an expression shows."""
