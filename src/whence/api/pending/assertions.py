"""Pending assertions of people: durable in the log, but not yet in the store.

They are stored in the log only, so they survive a restart of the API, and every instance reads the same ones.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whence.errors import EventError, LogCorruptError
from whence.log import Lane, Lanes, Log, Position, Record
from whence.model.events import Dataset, DatasetEvent, Event, JobEvent, RunEvent
from whence.model.ids import node_id
from whence.model.names import FieldName, JobName, Node, RunName
from whence.openlineage.authority.restrictions import PERSON
from whence.openlineage.read import read_accepted

_BY_PERSON = PERSON.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingEvent:
    """An assertion with its position in the log. `key`: 32 hex digits."""

    position: Position
    key: str
    event: Event

    @property
    def order(self) -> tuple[int, int, str]:
        """The order that decides the writer of a facet (docs/explanation/state.md): time, state rank, key."""
        rank = self.event.state.rank if isinstance(self.event, RunEvent) else 0
        return self.event.time, rank, self.key


@dataclass(frozen=True, slots=True)
class _Noted:
    """The position of an assertion, and the nodes that it mentions. The event itself is read on demand."""

    position: Position
    nodes: frozenset[Node]
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """The pending assertions at one moment, by the nodes that they mention."""

    log: Log | None = None
    noted: Sequence[_Noted] = ()
    _read: dict[Position, PendingEvent] = field(default_factory=dict, repr=False, compare=False)

    def names(self) -> Mapping[int, Node]:
        """Every mentioned dataset, field and job, by id."""
        return {node_id(name): name for one in self.noted for name in one.nodes}

    def of_node(self, name: Node) -> Sequence[PendingEvent]:
        """The assertions that mention a node, in the order of their application. Raises LogError."""
        return self._events(one.position for one in self.noted if name in one.nodes)

    def of_run(self, run_id: str) -> Sequence[PendingEvent]:
        """The assertions about a run. Raises LogError."""
        return self._events(one.position for one in self.noted if one.run_id == run_id)

    def runs_of(self, job: JobName) -> Sequence[str]:
        """The ids of the mentioned runs of a job."""
        return sorted({one.run_id for one in self.noted if one.run_id and job in one.nodes})

    def run_ids(self) -> Sequence[str]:
        """The ids of all mentioned runs."""
        return sorted({one.run_id for one in self.noted if one.run_id})

    def _events(self, positions: Iterable[Position]) -> list[PendingEvent]:
        wanted = list(positions)
        missing = [one for one in wanted if one not in self._read]
        if missing and self.log is not None:
            records = _records_at(self.log, missing)
            self._read.update({one.position: _pending_event(one) for one in records if one is not None})
        return sorted((self._read[one] for one in wanted if one in self._read), key=lambda one: one.order)


@dataclass(slots=True)
class _Tail:
    """The part of one lane that was read: all of [begin, end)."""

    begin: Position
    end: Position
    noted: list[_Noted] = field(default_factory=list)

    def advance(self, log: Log, begin: Position, end: Position) -> None:
        """Forget the part before `begin`, and continue reading up to `end`. Raises LogError."""
        if not self.begin <= begin <= self.end:
            self.begin, self.end, self.noted = begin, begin, []
        found = [noted for one in _records_by_persons(log, self.end, end) if (noted := _note(one))]
        kept = [one for one in self.noted if one.position >= begin]
        self.begin, self.end, self.noted = begin, max(self.end, end), [*kept, *found]


class PendingAssertions:
    """Finds the pending assertions. Each record of the log is read at most once. Thread-safe."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._tails: dict[str, _Tail] = {}

    def since(self, reached: Iterable[int]) -> Pending:
        """The assertions that a store with this progress (one position a lane) lacks. Raises LogError."""
        positions = [Position.from_int(one) for one in reached]
        with self._lock:
            progress = {self._log.lane_of(one): one for one in positions}
            noted = [one for lane in self._log.list_lanes() for one in self._advance(lane, progress)]
        return Pending(self._log, noted)

    def known_since(self, reached: Iterable[int]) -> Pending:
        """The same among those found before, without reading the log: at least those that this process wrote."""
        with self._lock:
            progress = {self._log.lane_of(one): one for one in map(Position.from_int, reached)}
            noted = [
                one
                for lane, tail in self._tails.items()
                for one in tail.noted
                if lane not in progress or one.position >= progress[lane]
            ]
        return Pending(self._log, noted)

    def _advance(self, lane: Lane, progress: Lanes) -> Sequence[_Noted]:
        begin = min(max(progress.get(lane.name, lane.start), lane.start), lane.end)
        tail = self._tails.setdefault(lane.name, _Tail(begin, begin))
        tail.advance(self._log, begin, lane.end)
        return tail.noted


def _records_by_persons(log: Log, since: Position, before: Position) -> Sequence[Record]:
    try:
        return list(log.find_events(_BY_PERSON, since, before))
    except LogCorruptError:
        log.seal_damage({log.lane_of(since): since})  # as the pipeline does at this position
        return list(log.find_events(_BY_PERSON, since, before))


def _records_at(log: Log, positions: Sequence[Position]) -> Sequence[Record | None]:
    try:
        return log.read_records(positions)
    except LogCorruptError:
        log.seal_damage({log.lane_of(one): one for one in sorted(positions, reverse=True)})
        return log.read_records(positions)


def mentions_of(event: Event) -> Iterator[Dataset]:
    """The datasets that an event mentions, with their facets."""
    match event:
        case RunEvent():
            yield from (*event.inputs, *event.outputs)
        case JobEvent():
            yield from (*event.inputs, *event.outputs, *((event.dataset,) if event.dataset else ()))
        case DatasetEvent():
            yield event.dataset


def run_of(event: Event) -> RunName | None:
    """The run that an event is about."""
    return event.run.name if isinstance(event, RunEvent) else None


def _note(record: Record) -> _Noted | None:
    """The mentions of an assertion; None if no person asserted it, or nothing of it is applied."""
    try:
        event = read_accepted(record.payload)
    except EventError:
        return None
    if not event.producer.startswith(PERSON):
        return None
    datasets = list(mentions_of(event))
    fields = [FieldName(one.name, column.name) for one in datasets for column in one.fields]
    jobs = [] if isinstance(event, DatasetEvent) else [event.job.name]
    run = run_of(event)
    nodes = frozenset[Node]((*jobs, *(one.name for one in datasets), *fields))
    return _Noted(record.position, nodes, run.run_id if run else "")


def _pending_event(record: Record) -> PendingEvent:
    return PendingEvent(position=record.position, key=record.key, event=read_accepted(record.payload))
