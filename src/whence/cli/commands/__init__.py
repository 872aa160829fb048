"""The commands: each parses its arguments, calls one function, and returns its result."""
