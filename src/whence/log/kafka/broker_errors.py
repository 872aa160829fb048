"""Errors of the brokers, as errors of the log."""

from confluent_kafka import KafkaError, KafkaException

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress


def make_topic_error(address: KafkaAddress, error: KafkaException | KafkaError) -> LogError:
    """The error to raise, with the broker's own message."""
    cause = error.args[0] if isinstance(error, KafkaException) else error
    message = cause.str() if isinstance(cause, KafkaError) else str(cause)
    return LogError(f"the topic {address.topic} at {address.servers} cannot be used: {message}")
