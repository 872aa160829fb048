"""Which log an address means: a directory of segments, or a Kafka topic."""

from collections.abc import Callable
from pathlib import Path

from whence.log.port import Log
from whence.log.segments.log import SegmentLog


def open_log(address: str, secret: Callable[[], bytes] | None = None) -> Log:
    """`kafka://HOST:PORT,…/TOPIC?…` (`kafka.address`), else a path. `secret` gives what the collector signs with; only
    a topic asks for it. Raises LogError if the address is malformed, and what `secret` raises.
    """
    if not address.startswith("kafka://"):
        return SegmentLog(Path(address))
    # Only where it is used: the client library costs 20 MB.
    from whence.log.kafka.log import KafkaLog

    return KafkaLog.at(address, secret)
