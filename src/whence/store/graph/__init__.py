"""SQL queries of the lineage graph: edges, gaps, evidence, names, runs and their history. Nothing is written here."""
