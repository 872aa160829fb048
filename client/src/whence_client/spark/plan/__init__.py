"""Column lineage of Spark's analysed plans: pure functions from the JSON of a plan to columns and their sources."""
