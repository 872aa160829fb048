"""What is in a pack: gathered from the answers of the query engine and from the log, for one viewer."""
