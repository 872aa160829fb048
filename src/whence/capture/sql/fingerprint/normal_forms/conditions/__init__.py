"""Conditions in their normal forms."""
