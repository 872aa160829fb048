"""Joins in their normal forms, and what is known where a side is missing."""
