"""Text to syntax trees: splitting, repairs, rewrites, and the one module that depends on SQLGlot's classes."""
