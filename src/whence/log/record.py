"""Records of the event log: drafts that a writer is given, where it appended them, and records as read.

They are made for every event, and a struct is made in a fifth of the time of a frozen dataclass.
"""

from enum import IntEnum

import msgspec

from whence.log.position import Position


class Kind(IntEnum):
    """The kind of a record."""

    EVENT = 1
    RECEIPT = 2
    """A repeat of a recently seen key, with the position of the first record that has it."""
    QUARANTINED = 3


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A record to append: EVENT or QUARANTINED. `key` has 16 bytes; `received_at` is in microseconds UTC."""

    kind: Kind
    key: bytes
    received_at: int
    payload: bytes
    pointer: str = ""
    reason: str = ""
    owner: str = ""
    """Events with the same owner go to the same lane (`openlineage.message_keys.message_key`)."""


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """Where a draft was stored.

    `original` is set if the draft repeats an event, so that only a receipt was stored. `refused` is the reason if the
    log cannot hold the draft; its beginning is then in quarantine at `position`.
    """

    position: Position
    original: Position | None = None
    refused: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A record as read. `key` is 32 hex digits. Only RECEIPT has `original`; only QUARANTINED has a reason."""

    position: Position
    kind: Kind
    key: str
    received_at: int
    payload: bytes = b""
    pointer: str = ""
    reason: str = ""
    original: Position | None = None
