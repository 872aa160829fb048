"""Capture from a running Spark session without a jar: what is read from the JVM, and the events of it."""
