"""Joins and subqueries in their normal forms."""
