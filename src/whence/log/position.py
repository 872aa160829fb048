"""Positions in the event log: a segment and a byte offset in it, or a partition and an offset in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_OFFSET_BITS = 36
_TEXT = re.compile(r"([0-9]{1,9}):([0-9]{1,11})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a record begins, or where a lane of the log ends. Positions of one lane compare in log order.

    In a Kafka topic, `segment` is the partition. Text form: `segment:offset`.
    """

    segment: int
    offset: int

    @property
    def as_int(self) -> int:
        """One signed 64-bit integer that sorts like the position: segment << 36 | offset."""
        return self.segment << _OFFSET_BITS | self.offset

    @classmethod
    def from_int(cls, value: int) -> "Position":
        """The inverse of `as_int`."""
        return cls(value >> _OFFSET_BITS, value & (1 << _OFFSET_BITS) - 1)

    @classmethod
    def parse(cls, text: str) -> "Position":
        """The inverse of `str`. Raises ValueError."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError(f"a position looks like 1:16, not {text!r}")
        position = cls(int(match[1]), int(match[2]))
        if position.offset >> _OFFSET_BITS or position.segment >> 27:
            raise ValueError(f"the position {text!r} is out of range")
        return position

    def __str__(self) -> str:
        return f"{self.segment}:{self.offset}"

    @property
    def after(self) -> "Position":
        """The smallest progress of a store that has derived the record at this position."""
        return Position(self.segment, self.offset + 1)


def format_positions(positions: Iterable[Position]) -> str:
    """Format positions as one text: `1:16`, or `0:17,1:33` for a log of several lanes."""
    return ",".join(map(str, positions))


def parse_positions(text: str) -> tuple[Position, ...]:
    """The inverse of `positions_text`. Raises ValueError."""
    return tuple(Position.parse(one) for one in text.split(","))
