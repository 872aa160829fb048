"""The pipeline, on PySpark: raw records of the log become rows of facts. Streams and rebuilds use the same stages."""
