"""Values of one row in their normal forms."""
