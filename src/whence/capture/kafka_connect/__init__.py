"""Connectors of a Kafka Connect cluster, polled over its REST API: topics, and what is at their other end."""
