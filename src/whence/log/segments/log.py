"""A directory of segments as an event log."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from whence.errors import LogError
from whence.log.port import Amount, Lane, Lanes, Seal
from whence.log.position import Position
from whence.log.record import Record
from whence.log.segments.counts import amounts
from whence.log.segments.drop import retaining
from whence.log.segments.files import ORIGIN
from whence.log.segments.read import committed, places, read, records_at, start
from whence.log.segments.sealing import seal_damage
from whence.log.segments.seals import read_seals
from whence.log.segments.write import SegmentSettings, SegmentWriter

LANE = "log"
"""The one lane there is."""


@dataclass(frozen=True, slots=True)
class SegmentLog:
    """The log in a directory, with one writer at a time."""

    directory: Path
    settings: SegmentSettings = field(default_factory=SegmentSettings)

    def lanes(self) -> tuple[Lane, ...]:
        return (Lane(LANE, start(self.directory), committed(self.directory), ORIGIN),)

    def lane_of(self, position: Position) -> str:
        return LANE

    def oldest(self, since: Lanes) -> int | None:
        (lane,) = self.lanes()
        low = since.get(LANE, lane.start)
        first = next(read(self.directory, low, lane.end), None) if low < lane.end else None
        return first.received_at if first else None

    def amount(self, before: Lanes) -> Amount:
        return amounts(self.directory).before(before.get(LANE, ORIGIN))

    def positions(self, since: Position, before: Position, most: int) -> Sequence[Position]:
        return list(islice(places(self.directory, since, min(before, committed(self.directory))), most))

    def records(self, positions: Sequence[Position]) -> Sequence[Record | None]:
        return records_at(self.directory, positions)

    def present(self, positions: Sequence[Position]) -> Sequence[Position]:
        return positions

    def seals(self) -> Sequence[Seal]:
        return read_seals(self.directory)

    def seal_damage(self, since: Lanes) -> Sequence[Seal]:
        try:
            return seal_damage(self.directory, since=since[LANE].segment if LANE in since else 0)
        except OSError as error:
            raise LogError(f"the damage of the event log cannot be sealed: {error}") from error

    def retained(self) -> AbstractContextManager[None]:
        return retaining(self.directory)

    def open_writer(self) -> SegmentWriter:
        return SegmentWriter(self.directory, self.settings)
