"""Passive capture on Spark: tables of logged queries in, OpenLineage events out (docs/sql-log.md)."""
