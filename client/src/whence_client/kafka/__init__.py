"""Kafka: the topics that a process reads and writes with confluent-kafka."""

from whence_client.kafka.hooks import capture

__all__ = ["capture"]
