"""Both versions on many databases at once."""
