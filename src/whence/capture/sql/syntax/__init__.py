"""Text to syntax trees: splitting, repairs, rewrites, and the one module that knows SQLGlot's classes."""
