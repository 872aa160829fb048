"""Passive capture on Spark: tables of logged queries become OpenLineage events (docs/how-to/sql-log.md)."""
