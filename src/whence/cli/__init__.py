"""The terminal surface: commands, and what they print."""
