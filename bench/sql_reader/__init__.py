"""How right and how fast the SQL reader is."""
