"""Plays a scenario: its events come into a store in the order of their times, and what a server does then is done at
the time of the scenario: transitions of objectives and incidents are found and recorded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from sqlalchemy import Engine

from whence.derive.writing.merge import merge_records
from whence.govern.containment.plan import make_plan
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.govern.gamedays.history import make_events
from whence.govern.gamedays.scenario import DAY, MINUTE, Scenario, Source
from whence.govern.gamedays.score import Findings
from whence.govern.incidents.current import compute_incidents, read_all_traits, read_incidents, read_streaks
from whence.govern.incidents.incident import Incident
from whence.govern.slos.declared import evaluate_all
from whence.log import Kind, Position, Record
from whence.model.events import Event, RunEvent
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.accept import accept
from whence.query.answers.values import Question
from whence.query.diagnosis.diagnosis import diagnose
from whence.query.history.changes.period import Period
from whence.query.runs.commits import Commit, reported_commit
from whence.store.ingest.recompute import recompute
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

LOOK = 15 * MINUTE
"""From one look to the next, in the time of the scenario."""
_LANE = "gameday"
_OVER = ("mitigated", "resolved")
"""The states in which the data is good again."""


def play(scenario: Scenario, engine: Engine, producer: str) -> Findings:
    """Play a scenario in a store, which is to be thrown away. `producer`: who declares its objectives."""
    events = make_events(scenario, producer)
    store, watch = _Store(engine), _Watch(scenario=scenario)
    store.merge(one.body for one in events if one.time <= scenario.fault_at - LOOK)
    for before, now in _looks(scenario):
        store.merge(one.body for one in events if before < one.time <= now)
        store.record_transitions(now)
        store.look(watch, now)
    return watch.findings()


def _looks(scenario: Scenario) -> Iterator[tuple[int, int]]:
    before = scenario.fault_at - LOOK
    for now in range(scenario.fault_at, scenario.end + LOOK, LOOK):
        yield before, now
        before = now


@dataclass(slots=True, kw_only=True)
class _Watch:
    """What is seen while a scenario is played. `answer`: what people would see once they must know of the fault."""

    scenario: Scenario
    detected_at: int | None = None
    closed_at: int | None = None
    seen: dict[DatasetName, None] = field(default_factory=dict)
    unrelated: dict[DatasetName, None] = field(default_factory=dict)
    open: tuple[DatasetName, ...] = ()
    causes: tuple[DatasetName, ...] = ()
    owners: tuple[str, ...] = ()
    contained: frozenset[JobName] = frozenset()

    @property
    def is_due(self) -> bool:
        """Whether it is time to ask for causes: once, when an incident is there, or must be."""
        return not self.causes

    def note(self, incidents: Sequence[Incident], now: int) -> None:
        """Note which incidents there are at a time (µs)."""
        affected = _affected(self.scenario)
        current = [one for one in incidents if one.since >= self.scenario.fault_at - DAY]
        related = [one for one in current if affected & {each.dataset for each in one.findings}]
        self.unrelated |= dict.fromkeys(one.root for one in current if one not in related)
        self.seen = dict.fromkeys(one.root for one in related)
        if related and self.detected_at is None:
            self.detected_at = now
        self.open = tuple(one.root for one in related if one.state not in _OVER)
        if related and not self.open and self.closed_at is None and now >= self.scenario.fixed_at:
            self.closed_at = now
        elif self.open:
            self.closed_at = None

    def findings(self) -> Findings:
        """What was found."""
        return Findings(
            detected_at=self.detected_at,
            incidents=tuple(self.seen),
            unrelated=tuple(self.unrelated),
            causes=self.causes,
            owners=self.owners,
            contained=self.contained,
            open_at_end=self.open,
            closed_at=self.closed_at,
        )


def _affected(scenario: Scenario) -> frozenset[DatasetName]:
    """The datasets that jobs with faults write, and all that is made of them."""
    wrong, faulty = set[str](), {one.job for one in scenario.faults}
    for task in scenario.tasks:
        if task.name in faulty or wrong & set(task.reads):
            wrong |= set(task.writes)
    return frozenset(scenario.tables[key].name for key in wrong)


@dataclass(slots=True)
class _Store:
    """A store with everything that arrived. `commits`: what each run reported, by its id, in place of a log."""

    engine: Engine
    position: int = 1
    commits: dict[int, Commit] = field(default_factory=dict)

    def merge(self, bodies: Iterable[bytes]) -> None:
        """Merge events, and what follows from them."""
        accepted = [accept(body) for body in bodies]
        records = [
            Record(position=Position(0, place), kind=Kind.EVENT, key=one.key, received_at=0, payload=one.payload)
            for place, one in enumerate(accepted, self.position)
        ]
        if records:
            self.position += len(records)
            self.commits |= _commits(one.event for one in accepted)
            merge_records(self.engine, records)
            recompute(self.engine, {_LANE: Position(0, self.position).as_int})

    def record_transitions(self, now: int) -> None:
        """Do what a server does again and again: record what changed at objectives, then at incidents."""
        with snapshot(self.engine) as connection:
            found = evaluate_all(StoreCatalog(connection), StoreGraph(connection), now).events
        self.merge(map(msgspec.json.encode, found))
        with snapshot(self.engine) as connection:
            streaks = read_streaks(connection, now)
            events = compute_incidents(StoreCatalog(connection), StoreGraph(connection), streaks, now).events
        self.merge(map(msgspec.json.encode, events))

    def look(self, watch: _Watch, now: int) -> None:
        """Look at the incidents as people do, and, once it is time, ask for causes and for a containment plan."""
        with snapshot(self.engine) as connection:
            catalog, graph = StoreCatalog(connection), StoreGraph(connection)
            read = read_incidents(catalog, graph, read_streaks(connection, now), now, is_past=False)
            watch.note(read.incidents, now)
            scenario = watch.scenario
            if now < scenario.fault_at + scenario.expected.detected_within or not watch.is_due:
                return
            period = Period(since=scenario.fault_at - DAY, until=now, is_now=True)
            symptom = _node(scenario, scenario.expected.symptom)
            contracts = EvaluatedContracts(catalog, graph)
            found = diagnose(graph, contracts, symptom, period, Question(), read_commits=self.read_commits)
            watch.causes = tuple(one.dataset for one in found.causes)
            traits = read_all_traits(graph, watch.seen)
            watch.owners = tuple(sorted({owner for one in traits.values() for owner in one.owners}))
            plan = make_plan(graph, catalog, _node(scenario, scenario.expected.root), Question())
            watch.contained = frozenset(one.job for one in plan.dependents)

    def read_commits(self, run_ids: Sequence[int]) -> Mapping[int, Commit]:
        """The commits of runs, as a server reads them from its log."""
        return {id_: self.commits[id_] for id_ in run_ids if id_ in self.commits}


def _commits(events: Iterable[Event]) -> Iterator[tuple[int, Commit]]:
    for one in events:
        if isinstance(one, RunEvent) and (commit := reported_commit(one.job)):
            yield node_id(one.run.name), commit


def _node(scenario: Scenario, source: Source) -> DatasetName | FieldName:
    key, column = source
    name = scenario.tables[key].name
    return FieldName(name, column) if column else name
