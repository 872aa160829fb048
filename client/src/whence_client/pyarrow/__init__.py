"""PyArrow: files and datasets that are read into tables and written from them, and the columns that pass unchanged."""

from whence_client.pyarrow.captures import csv, dataset, feather, json, orc, pandas_compat, parquet

__all__ = ["csv", "dataset", "feather", "json", "orc", "pandas_compat", "parquet"]
