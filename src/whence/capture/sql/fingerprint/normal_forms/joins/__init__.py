"""Normal forms of joins, and of conditions on the NULLs of a row without a match."""
