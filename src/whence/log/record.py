"""Records of the event log: what a writer is given, where it put it, and what a reader gets."""

from dataclasses import dataclass
from enum import IntEnum

from whence.log.position import Position


class Kind(IntEnum):
    """What a record is."""

    EVENT = 1
    RECEIPT = 2
    """A repeat of a recently seen key: it says so, and where the first one is."""
    QUARANTINED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a caller wants appended: EVENT or QUARANTINED. `key` has 16 bytes, `received_at` is in microseconds UTC."""

    kind: Kind
    key: bytes
    received_at: int
    payload: bytes
    pointer: str = ""
    reason: str = ""
    owner: str = ""
    """Whose events a log of several lanes keeps in one of them (`openlineage.transport.message_key`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """Where a draft became durable.

    `original` is set if that is only a receipt of an event seen before. `refused` says why the log cannot hold it: then
    the beginning of it is at `position`, quarantined.
    """

    position: Position
    original: Position | None = None
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as read. `key` is 32 hex digits. Only RECEIPT has `original`, only QUARANTINED a reason."""

    position: Position
    kind: Kind
    key: str
    received_at: int
    payload: bytes = b""
    pointer: str = ""
    reason: str = ""
    original: Position | None = None
