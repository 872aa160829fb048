"""Lost records: the pipeline passed them and no ledger has them. There must be none; this finds them if there are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select

from whence.log import Log, Position
from whence.store.connection.engine import reading
from whence.store.ingest.retention_summary import read_horizons
from whence.store.schema.tables import progress
from whence.store.status.ledger import accounted_positions

BATCH_RECORDS = 100_000
"""Records checked for one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The positions of lost records among `looked` records. `until`: where to continue; None: all were checked."""

    positions: tuple[Position, ...]
    looked: int
    until: Position | None


def find_lost(log: Log, connection: Connection, since: Position | None = None, most: int = BATCH_RECORDS) -> Lost:
    """Check at most `most` records, from a position on.

    Only records that the log still has and that came after the last horizon: deleted records are in no ledger either,
    and their counts (`store.ingest.retention_summary`) do not tell which they were. Raises LogError.
    """
    lost: list[Position] = []
    looked = 0
    for low, high in _passed_ranges(log, connection, since):
        positions = log.list_positions(low, high, most - looked)
        if not positions:
            continue
        lost += _find_unaccounted(log, connection, positions)
        looked += len(positions)
        if looked >= most:
            return Lost(positions=tuple(lost), looked=looked, until=positions[-1].after)
    return Lost(positions=tuple(lost), looked=looked, until=None)


class LostCount:
    """Counts the lost records of a log. Checked records are not checked again, except for those found lost."""

    def __init__(self, log: Log, engine: Engine) -> None:
        self._log, self._engine = log, engine
        self._looked: dict[str, Position] = {}
        self._lost: list[Position] = []

    def count(self) -> int:
        """The number of lost records before the store's progress, as `find_lost` finds them. Raises LogError."""
        with reading(self._engine) as connection:
            lost = [
                position
                for position in self._lost
                if not accounted_positions(connection, position.as_int, position.as_int)
            ]
            for low, high in _passed_ranges(self._log, connection, None):
                lane = self._log.lane_of(low)
                begin = max(low, self._looked.get(lane, low))
                while begin < high and (positions := self._log.list_positions(begin, high, BATCH_RECORDS)):
                    lost += _find_unaccounted(self._log, connection, positions)
                    self._looked[lane] = begin = positions[-1].after
        self._lost = lost
        return len(lost)


def _find_unaccounted(log: Log, connection: Connection, positions: Sequence[Position]) -> Sequence[Position]:
    known = accounted_positions(connection, positions[0].as_int, positions[-1].as_int)
    return log.select_existing([position for position in positions if position.as_int not in known])


def _passed_ranges(log: Log, connection: Connection, since: Position | None) -> Iterator[tuple[Position, Position]]:
    """The range of each lane, at or after `since`, that the store has passed and not deleted."""
    reached = dict(connection.execute(select(progress.c.name, progress.c.position)).all())
    for lane in sorted(log.list_lanes(), key=lambda lane_: lane_.start):
        enforced = [lane_.reached[lane.name] for lane_ in read_horizons(connection) if lane.name in lane_.reached]
        starts = [lane.start, *map(Position.from_int, enforced), *([since] if since else [])]
        low, high = max(starts), min(Position.from_int(reached.get(lane.name, 0)), lane.end)
        if low < high:
            yield low, high
