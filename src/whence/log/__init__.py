"""The append-only event log, in segment files (`segments/`) or in a Kafka topic (`kafka/`). This package imports only
what both share.
"""

from whence.log.port import Amount, Lane, Lanes, Log, Seal, Writer
from whence.log.position import Position
from whence.log.record import Kind, Record

__all__ = ["Amount", "Kind", "Lane", "Lanes", "Log", "Position", "Record", "Seal", "Writer"]
