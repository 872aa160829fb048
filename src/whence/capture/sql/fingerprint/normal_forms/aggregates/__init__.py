"""Aggregates and windows in their normal forms."""
