"""Output on the terminal: streams, formats, short labels."""
