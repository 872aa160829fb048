"""What the events in the log say of the owners of datasets and jobs: each as it was applied, not the latest alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sqlalchemy import Connection

from whence.errors import EventError
from whence.log import Kind, Log, Position
from whence.model.events import DatasetEvent, Event, EventKind, Facet
from whence.model.graph import FacetRow
from whence.model.ids import join_event_key, node_id
from whence.model.names import DatasetName, JobName
from whence.model.traits import read_traits
from whence.openlineage.read import read_accepted
from whence.query.history.changes.owners import FACET, Declared, OwnerStatement
from whence.store.catalog.subject_events import SubjectEvent, read_subject_events
from whence.store.status.failing_jobs import read_run_events

MOST_EVENTS = 500
"""Events about one dataset or job that are read: the latest."""


@dataclass(frozen=True, slots=True)
class LoggedOwners:
    """The owners in the events of a snapshot of the store, read from the log: the port `ReadOwners`.

    Raises LogError.
    """

    connection: Connection
    log: Log

    def declared(self, subjects: AbstractSet[int], since: int, until: int) -> Declared:
        """By events about the datasets and jobs themselves, in the period, and the last before."""
        kinds = (EventKind.JOB, EventKind.DATASET)
        events = read_subject_events(self.connection, subjects, kinds, until, MOST_EVENTS + 1)
        found, cut = list[OwnerStatement](), set[int]()
        for subject, several in events.items():
            own = [one for one in self._read(several[:MOST_EVENTS]) if one.subject == subject]
            found += _of_period(own, since)
            is_before = any(one.time <= since for one in own)
            if len(several) > MOST_EVENTS and not is_before and several[MOST_EVENTS - 1].time > since:
                cut.add(subject)
        return Declared(statements=found, cut=frozenset(cut))

    def reported(self, runs: Iterable[int]) -> Mapping[int, Sequence[OwnerStatement]]:
        """By the first and the last event of each run."""
        found: dict[int, Sequence[OwnerStatement]] = {}
        for run, several in read_run_events(self.connection, runs).items():
            events = [SubjectEvent(*one, run, 0) for one in dict.fromkeys((several[0], several[-1]))]
            if records := self._events(events):
                found[run] = [one for each, event in records for one in _statements(each, event, run)]
        return found

    def _read(self, several: Sequence[SubjectEvent]) -> list[OwnerStatement]:
        return [one for each, event in self._events(several) for one in _statements(each, event, 0)]

    def _events(self, several: Sequence[SubjectEvent]) -> list[tuple[SubjectEvent, Event]]:
        records = self.log.read_records([Position.from_int(one.position) for one in several])
        found = list[tuple[SubjectEvent, Event]]()
        for one, record in zip(several, records, strict=True):
            if record is None or record.kind is not Kind.EVENT or record.key != join_event_key(one.id, one.rest):
                continue
            try:
                found.append((one, read_accepted(record.payload)))
            except EventError:  # it was in quarantine, too
                continue
        return found


def _of_period(own: Iterable[OwnerStatement], since: int) -> Iterator[OwnerStatement]:
    before = max((one for one in own if one.time <= since), key=lambda one: (one.time, one.event), default=None)
    yield from (one for one in own if one.time > since or one is before)


def _statements(one: SubjectEvent, event: Event, run: int) -> Iterator[OwnerStatement]:
    for name, facets in _described(event):
        facet = next((each for each in facets if each.key == FACET), None)
        if facet is not None:
            yield OwnerStatement(subject=node_id(name), time=event.time, owners=_owners(facet), event=one.id, run=run)


def _described(event: Event) -> Iterator[tuple[DatasetName | JobName, tuple[Facet, ...]]]:
    if isinstance(event, DatasetEvent):
        yield event.dataset.name, event.dataset.facets
        return
    yield event.job.name, event.job.facets
    for each in (*event.inputs, *event.outputs):
        yield each.name, each.facets


def _owners(facet: Facet) -> frozenset[str]:
    payload = "" if facet.deleted else facet.payload
    return read_traits([FacetRow(0, FACET, payload, 0, 0)]).owners
