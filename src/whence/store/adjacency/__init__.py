"""The edges as arrays in a file (compressed sparse rows): format, build, cache, and the overlay of newer changes."""
