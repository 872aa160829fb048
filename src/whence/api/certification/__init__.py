"""Routes of certification."""
