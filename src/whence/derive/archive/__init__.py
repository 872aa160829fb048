"""The archive: raw records of the log in a Delta table, in the order received, by the day they were received.

Executors write and read its Parquet files; `deltalake` (delta-rs) keeps the table's transaction log. Delta's own Spark
connector is not used: there is none for Spark 4.3 (4.4.0, for Spark 4.2, fails with NoSuchMethodError).
"""
