"""Commands that act on other systems: each parses its arguments, and calls one function."""
