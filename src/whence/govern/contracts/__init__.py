"""Data contracts of the Open Data Contract Standard: reading, checking and comparing them. Pure functions."""
