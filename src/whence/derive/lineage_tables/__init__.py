"""Lineage as Delta tables that any SQL engine can query (docs/reference/tables.md)."""
