"""What every attach capture of queries and frames shares: the sources of values, and how operations combine them."""
