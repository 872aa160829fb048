"""How the normal forms are read from a syntax tree: one rule for each class of the parser."""
