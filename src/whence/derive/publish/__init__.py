"""Lineage as Delta tables that any SQL engine can ask (docs/tables.md)."""
