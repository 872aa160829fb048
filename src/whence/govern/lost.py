"""Records that the pipeline passed and no ledger has. There must be none; if there are, these are they."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select

from whence.log import Log, Position
from whence.store.engine import reading
from whence.store.ledger import accounted
from whence.store.summary import read_horizons
from whence.store.tables import progress

LOOKED = 100_000
"""Records looked at for one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Where they are in the log, of `looked` records. `until`: where there is more to look at; None: that was all."""

    positions: tuple[Position, ...]
    looked: int
    until: Position | None


def find_lost(log: Log, connection: Connection, since: Position | None = None, most: int = LOOKED) -> Lost:
    """Look at `most` records, from a position on.

    Of what the log still has, and of what came after the last horizon: what is forgotten is in no ledger either, and
    its counts (`store.summary`) do not say which it was. Raises LogError.
    """
    found: list[Position] = []
    looked = 0
    for low, high in _passed(log, connection, since):
        places = log.positions(low, high, most - looked)
        if not places:
            continue
        found += _lost_among(log, connection, places)
        looked += len(places)
        if looked >= most:
            return Lost(positions=tuple(found), looked=looked, until=places[-1].after)
    return Lost(positions=tuple(found), looked=looked, until=None)


class LostCount:
    """Counts the lost records of a log. What was looked at is not looked at again, but for what was lost then."""

    def __init__(self, log: Log, engine: Engine) -> None:
        self._log, self._engine = log, engine
        self._looked: dict[str, Position] = {}
        self._lost: list[Position] = []

    def count(self) -> int:
        """How many there are before the store's progress, as `find_lost` finds them. Raises LogError."""
        with reading(self._engine) as connection:
            still = [one for one in self._lost if not accounted(connection, one.as_int, one.as_int)]
            for low, high in _passed(self._log, connection, None):
                lane = self._log.lane_of(low)
                begin = max(low, self._looked.get(lane, low))
                while begin < high and (places := self._log.positions(begin, high, LOOKED)):
                    still += _lost_among(self._log, connection, places)
                    self._looked[lane] = begin = places[-1].after
        self._lost = still
        return len(still)


def _lost_among(log: Log, connection: Connection, places: Sequence[Position]) -> Sequence[Position]:
    known = accounted(connection, places[0].as_int, places[-1].as_int)
    return log.present([one for one in places if one.as_int not in known])


def _passed(log: Log, connection: Connection, since: Position | None) -> Iterator[tuple[Position, Position]]:
    """What of each lane the store has passed and remembers, and is at `since` or after it."""
    reached = dict(connection.execute(select(progress.c.name, progress.c.position)).all())
    for lane in sorted(log.lanes(), key=lambda one: one.start):
        enforced = [one.reached[lane.name] for one in read_horizons(connection) if lane.name in one.reached]
        begins = [lane.start, *map(Position.from_int, enforced), *([since] if since else [])]
        low, high = max(begins), min(Position.from_int(reached.get(lane.name, 0)), lane.end)
        if low < high:
            yield low, high
