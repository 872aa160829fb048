"""Databricks: its system tables of queries and lineage, over its API for statements."""
