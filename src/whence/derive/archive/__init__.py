"""The archive: raw records of the log in a Delta table, in the order received, by the day they were received."""
