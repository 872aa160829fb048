"""The Spark that the pipeline runs on: session, JVM, jars, Python daemon, metrics, periodic jobs."""
