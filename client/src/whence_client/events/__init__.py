"""OpenLineage events as plain objects, from facts: pure, without clock, network or files."""
