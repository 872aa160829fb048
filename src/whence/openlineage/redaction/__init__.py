"""Secrets in events: their shapes, and how they are masked."""
