"""The port: what an event log is to those who use it, wherever its records are (`segments/`, `kafka/`)."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from whence.log.position import Position
from whence.log.record import Appended, Draft, Record

Lanes = Mapping[str, Position]
"""A position in each lane of a log, by the lane's name: how far a store is, or what someone waits for."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A part of a log that has an order of its own: all of a log in segments, a partition of a topic.

    Its records are at `start` or after it, and before `end`. All before `end` is durable.
    """

    name: str
    start: Position
    end: Position
    origin: Position | None = None
    """Where the lane began, if all that ever was in it is known to have been this log's."""


@dataclass(frozen=True, slots=True)
class Amount:
    """So much of a log. `bytes` is None where the log does not tell."""

    records: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Seal:
    """A damaged range [start, stop) of a segment. `state`: `sealed` until somebody decides, `restored`, or `lost`.

    `records`: offset and key of those known to have been there, the key empty where it is not known. `count`: how many
    there were, at least; `lost`: of these, records that no store had derived when the loss was accepted.
    """

    segment: int
    start: int
    stop: int
    state: str
    found_at: int
    """Microseconds UTC."""
    records: tuple[tuple[int, str], ...] = ()
    count: int = 0
    lost: int = 0

    @property
    def begin(self) -> Position:
        """Where the range begins."""
        return Position(self.segment, self.start)

    @property
    def end(self) -> Position:
        """Where the range ends."""
        return Position(self.segment, self.stop)


class Writer(Protocol):
    """The open end of a log. After any LogError from `append`, close it and open a new one."""

    def append(self, drafts: Sequence[Draft]) -> Sequence[Appended]:
        """Append all drafts, and return once they are durable. Raises LogError: then take none of them for stored."""

    def rehearse(self) -> Sequence[Appended]:
        """Append nothing, but find out whether it could be. Raises LogError."""

    def close(self) -> None:
        """Release what the writer holds. It waits for nothing."""


class Log(Protocol):
    """An event log, by its address: it is not touched before a method is called."""

    def lanes(self) -> tuple[Lane, ...]:
        """The lanes as they are now, in order; at least one. Raises LogError."""

    def lane_of(self, position: Position) -> str:
        """The name of the lane that a position is in."""

    def oldest(self, since: Lanes) -> int | None:
        """When the first record at or after these positions was received (µs); of a lane that is not among them, all
        count. None if there is none. Raises LogError.
        """

    def amount(self, before: Lanes) -> Amount:
        """What the log ever had before these positions, whether or not it still has it. Raises LogError."""

    def positions(self, since: Position, before: Position, most: int) -> Sequence[Position]:
        """Where records of one lane are, from `since` on and before `before`, in order: the first `most` that the log
        still has. Raises LogError.
        """

    def records(self, positions: Sequence[Position]) -> Sequence[Record | None]:
        """The record at each position, in their order; None for one that the log has no more, or that is in a range
        which is sealed. Raises LogError.
        """

    def present(self, positions: Sequence[Position]) -> Sequence[Position]:
        """Those of `positions` (of the method) that are records. Only a topic has others: the markers of transactions,
        and messages of those that were aborted. Raises LogError.
        """

    def seals(self) -> Sequence[Seal]:
        """The damaged ranges that were found, restored ones too, in order. Raises LogError."""

    def seal_damage(self, since: Lanes) -> Sequence[Seal]:
        """Look for damage from these positions on, and seal it. Returns the new seals. Raises LogError."""

    def retained(self) -> AbstractContextManager[None]:
        """Meanwhile Whence deletes nothing from the log's beginning. Raises LogBusyError while it does."""

    def open_writer(self) -> Writer:
        """Raises LogError."""
