"""Jobs of Flink SQL, read from compiled plans: the columns that each table is made of, as Flink's planner has them."""
