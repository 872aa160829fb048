"""The port of the event log: what every log offers its users, wherever it stores records (`segments/`, `kafka/`)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from whence.log.position import Position
from whence.log.record import Appended, Draft, Record

Lanes = Mapping[str, Position]
"""A position in each lane of a log, by the lane's name: a store's progress, or the positions that a caller waits for.
"""


@dataclass(frozen=True, slots=True)
class Lane:
    """A part of a log with an order of its own: a whole log in segments, or a partition of a topic.

    Its records are at `start` or after it, and before `end`. All records before `end` are durable.
    """

    name: str
    start: Position
    end: Position
    origin: Position | None = None
    """Where the lane began, if everything before `start` is known to have been part of this log."""


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of records. `bytes` is None if the log does not report sizes."""

    records: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Seal:
    """A damaged range [start, stop) of a segment. `state` is `sealed` until somebody decides, then `restored` or
    `lost`.

    `records` are the offset and key of each record known to have been there; the key is empty if it is unknown. `count`
    is how many there were, at least. `lost`: how many of them no store had derived when the loss was accepted.
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
        """The position where the range begins."""
        return Position(self.segment, self.start)

    @property
    def end(self) -> Position:
        """The position where the range ends."""
        return Position(self.segment, self.stop)


class Writer(Protocol):
    """Appends to a log. After any LogError from `append`, close it and open a new one."""

    def append(self, drafts: Sequence[Draft]) -> Sequence[Appended]:
        """Append all drafts, and return once they are durable. Raises LogError; none of them then counts as stored."""

    def check_writable(self) -> Sequence[Appended]:
        """Check that `append` would work, without appending. Returns nothing appended. Raises LogError."""

    def close(self) -> None:
        """Release the writer's files and connections, without waiting."""


class Log(Protocol):
    """An event log, opened lazily: nothing is read or locked before a method is called."""

    def list_lanes(self) -> tuple[Lane, ...]:
        """The current lanes, in order; at least one. Raises LogError."""

    def lane_of(self, position: Position) -> str:
        """The name of the lane that contains a position."""

    def oldest_received_at(self, since: Lanes) -> int | None:
        """When the first record at or after these positions was received (µs), or None if there is none.

        All records of a lane that `since` does not mention count. Raises LogError.
        """

    def count_before(self, before: Lanes) -> Amount:
        """The amount of records ever received before these positions, deleted ones included. Raises LogError."""

    def list_positions(self, since: Position, before: Position, most: int) -> Sequence[Position]:
        """The positions of at most `most` records of one lane that the log still has, in order, from `since` to
        `before` (excluded). Raises LogError.
        """

    def read_records(self, positions: Sequence[Position]) -> Sequence[Record | None]:
        """The record at each position, in the given order. None for a record that was deleted or is in a sealed range.

        Raises LogError.
        """

    def scan_records(self, since: Position, before: Position) -> Iterator[Record]:
        """All records of one lane, in order, from the one at `since` to `before` (excluded). Raises LogError."""

    def find_events(self, text: bytes, since: Position, before: Position) -> Iterator[Record]:
        """The events of one lane whose payload contains `text`, in order, from `since` to `before` (excluded).

        Both are positions of a lane as `list_lanes` returns it, or progress in it. Raises LogError.
        """

    def select_existing(self, positions: Sequence[Position]) -> Sequence[Position]:
        """Those of the positions that `list_positions` returned that hold records. Only a topic has others: transaction
        markers, and messages of aborted transactions. Raises LogError.
        """

    def list_seals(self) -> Sequence[Seal]:
        """All damaged ranges ever found, restored ones too, in order. Raises LogError."""

    def seal_damage(self, since: Lanes) -> Sequence[Seal]:
        """Find damage from these positions on and seal it. Returns the new seals. Raises LogError."""

    def prevent_deletion(self) -> AbstractContextManager[None]:
        """Prevent the deletion of records while the context is open. Raises LogBusyError if a deletion is running."""

    def open_writer(self) -> Writer:
        """Raises LogError."""
