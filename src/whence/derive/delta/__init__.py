"""Delta tables that the pipeline writes: the archive, and the published lineage.

Executors write and read their Parquet files; `deltalake` (delta-rs) keeps their transaction logs. Delta's own Spark
connector is not used: there is none for Spark 4.3 (4.4.0, for Spark 4.2, fails with NoSuchMethodError).
"""
