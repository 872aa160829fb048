"""Queries: a SELECT in, the relation that it gives out."""
