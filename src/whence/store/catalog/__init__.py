"""SQL queries of the catalog: datasets, jobs, runs, events, facets, and search candidates."""
