"""Lineage from your own PySpark: the official OpenLineage listener, put on a session and pointed at a collector."""

from whence_client.spark.builder import attach
from whence_client.spark.listener import LISTENER_CLASS, LISTENER_VERSION
from whence_client.spark.properties import Parent, conf, properties_file

__all__ = ["LISTENER_CLASS", "LISTENER_VERSION", "Parent", "attach", "conf", "properties_file"]
