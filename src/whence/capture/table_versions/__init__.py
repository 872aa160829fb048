"""Versions of tables: the commits of Delta tables, the snapshots of Iceberg tables, and the runs that made them."""
