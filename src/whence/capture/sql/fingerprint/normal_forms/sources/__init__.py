"""Subqueries, unions and other sources of rows in their normal forms."""
