"""Routes that evaluate policies."""
