"""DuckDB: the SQL that a job runs, and the files, tables and frames that it reads and writes."""

from whence_client.duckdb.hooks import capture

__all__ = ["capture"]
