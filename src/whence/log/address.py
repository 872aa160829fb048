"""Log addresses: a directory of segments, or a Kafka topic."""

from collections.abc import Callable
from pathlib import Path

from whence.log.port import Log
from whence.log.segments.log import SegmentLog


def open_log(address: str, secret: Callable[[], bytes] | None = None) -> Log:
    """Open the log at an address: `kafka://HOST:PORT,…/TOPIC?…` (`kafka.address`), or a path.

    `secret` returns the collector's signing secret; only a topic needs it. Raises LogError if the address is malformed,
    and whatever `secret` raises.
    """
    if not address.startswith("kafka://"):
        return SegmentLog(Path(address))
    # Imported only if used: the client library takes 20 MB of memory.
    from whence.log.kafka.log import KafkaLog

    return KafkaLog.at(address, secret)
