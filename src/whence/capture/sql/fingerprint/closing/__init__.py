"""Complete rows: formulas without reference to the instances of a block."""
