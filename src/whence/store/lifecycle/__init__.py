"""The content of a store as a whole: dump, copy, export, replacement, and retention's purge."""
