"""Statements that change rows, as queries for these."""
