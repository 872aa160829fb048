"""The pipeline, on PySpark: raw records of the log to rows of facts, the same stages for the stream and for the
rebuild.
"""
