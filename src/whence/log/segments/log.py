"""A directory of segments as an event log."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from whence.errors import LogError
from whence.log.port import Amount, Lane, Lanes, Seal
from whence.log.position import Position
from whence.log.record import Record
from whence.log.segments.counts import segment_counts
from whence.log.segments.damage_sealing import seal_damage
from whence.log.segments.damaged_ranges import read_seals
from whence.log.segments.drop import prevent_drops
from whence.log.segments.files import ORIGIN
from whence.log.segments.read import (
    committed_end,
    find_events,
    list_record_positions,
    read_records,
    read_records_at,
    start_position,
)
from whence.log.segments.write import SegmentSettings, SegmentWriter

LANE = "log"
"""The name of the only lane."""


@dataclass(frozen=True, slots=True)
class SegmentLog:
    """A log in a directory, with one writer at a time."""

    directory: Path
    settings: SegmentSettings = field(default_factory=SegmentSettings)

    def list_lanes(self) -> tuple[Lane, ...]:
        return (Lane(LANE, start_position(self.directory), committed_end(self.directory), ORIGIN),)

    def lane_of(self, position: Position) -> str:
        return LANE

    def oldest_received_at(self, since: Lanes) -> int | None:
        (lane,) = self.list_lanes()
        low = since.get(LANE, lane.start)
        first = next(read_records(self.directory, low, lane.end), None) if low < lane.end else None
        return first.received_at if first else None

    def count_before(self, before: Lanes) -> Amount:
        return segment_counts(self.directory).before(before.get(LANE, ORIGIN))

    def list_positions(self, since: Position, before: Position, most: int) -> Sequence[Position]:
        return list(
            islice(list_record_positions(self.directory, since, min(before, committed_end(self.directory))), most)
        )

    def read_records(self, positions: Sequence[Position]) -> Sequence[Record | None]:
        return read_records_at(self.directory, positions)

    def scan_records(self, since: Position, before: Position) -> Iterator[Record]:
        return read_records(self.directory, since, before)

    def find_events(self, text: bytes, since: Position, before: Position) -> Iterator[Record]:
        return find_events(self.directory, text, since, before)

    def select_existing(self, positions: Sequence[Position]) -> Sequence[Position]:
        return positions

    def list_seals(self) -> Sequence[Seal]:
        return read_seals(self.directory)

    def seal_damage(self, since: Lanes) -> Sequence[Seal]:
        try:
            return seal_damage(self.directory, since=since[LANE].segment if LANE in since else 0)
        except OSError as error:
            raise LogError(
                f"the damaged range of the event log cannot be recorded: {error}; "
                "check the disk and the permissions of the directory"
            ) from error

    def prevent_deletion(self) -> AbstractContextManager[None]:
        return prevent_drops(self.directory)

    def open_writer(self) -> SegmentWriter:
        return SegmentWriter(self.directory, self.settings)
