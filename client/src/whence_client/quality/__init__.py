"""Captures of Great Expectations and Soda: which checks held; values of rows are never read."""
