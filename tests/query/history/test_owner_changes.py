"""When the owners of datasets and jobs changed: by what people declared, and by what runs said."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine

from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_lanes
from whence.api.requests.local_log import LocalLog, open_local_log
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.log import Log
from whence.log.address import open_log
from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import dataset, dataset_event, facet, run_event
from whence.query.answers.values import Question
from whence.query.history.changes.owners import ReadOwners
from whence.query.history.changes.period import Period
from whence.query.history.changes.timeline import upstream_changes
from whence.query.history.changes.values import ChangeKind, Unknown, UpstreamChanges
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
RAW, GOLD = (DatasetName("postgres://prod:5432", name) for name in ("raw", "gold"))
OTHER = DatasetName("postgres://prod:5432", "other")
BUILD = JobName("airflow", "build")


def owned(*owners: str) -> dict[str, object]:
    return {"ownership": facet("OwnershipDatasetFacet", owners=[{"name": one, "type": "OWNER"} for one in owners])}


def ran(hour: int, job: Sequence[str] = (), gold: Sequence[str] = ()) -> bytes:
    """A run that says who owns its job and its output, if anybody does."""
    run = RunName(f"01890000-0000-7000-8000-{hour:012}", BUILD)
    event = run_event(
        hour * HOUR,
        RunState.COMPLETE,
        run,
        inputs=[dataset(RAW)],
        outputs=[dataset(GOLD, facets=owned(*gold) if gold else {})],
        job_facets=owned(*job) if job else {},
    )
    return json.dumps(event).encode()


def declared(hour: int, name: DatasetName, *owners: str) -> bytes:
    return json.dumps(dataset_event(hour * HOUR, name, facets=owned(*owners))).encode()


class Story:
    """A store, and the log that it was made of."""

    def __init__(self, engine: Engine, log: Log) -> None:
        self.engine, self.log = engine, log

    def tell(self, bodies: Sequence[bytes]) -> None:
        fill(self.log, bodies)
        lanes = self.log.list_lanes()
        records = [one for lane in lanes for one in self.log.scan_records(lane.start, lane.end)]
        apply_lanes(self.engine, records, {lane.name: lane.end for lane in lanes})

    def ask(self, since: int, until: int = 1_000, local: LocalLog | None = None) -> UpstreamChanges:
        with reading(self.engine) as connection:
            graph = StoreGraph(connection)
            owners = (local or LocalLog(self.log)).owners(connection)
            return ask(graph, connection, since, until, owners)


def ask(
    graph: StoreGraph, connection: Connection, since: int, until: int, owners: ReadOwners | None
) -> UpstreamChanges:
    period = Period(since=since * HOUR, until=until * HOUR)
    contracts = EvaluatedContracts(StoreCatalog(connection), graph)
    return upstream_changes(graph, contracts, GOLD, period, Question(), read_owners=owners)


@pytest.fixture
def story(store: Engine, tmp_path: Path) -> Story:
    return Story(store, open_log(str(tmp_path / "log")))


def turns(found: UpstreamChanges) -> list[tuple[str, int, str, str]]:
    """The changes of owners, the newest first: of what, when, and from whom to whom."""
    owners = [one for one in found.changes if one.kind is ChangeKind.OWNERS]
    assert all(one.event is not None for one in owners)
    nodes = [one.node for one in owners]
    assert not any(isinstance(one, FieldName) for one in nodes)
    return [
        (str(one.node).rpartition(":")[2], one.time // HOUR, one.parts[0].before, one.parts[0].after) for one in owners
    ]


def not_known(found: UpstreamChanges) -> list[tuple[Node, ...]]:
    """The nodes whose owners are not known."""
    return [one.nodes for one in found.not_known if one.reason is Unknown.OWNERS]


def test_what_people_declare_changes_owners(story: Story) -> None:
    story.tell(
        [
            ran(1),
            declared(2, GOLD, "ada"),
            declared(5, RAW, "eve"),
            declared(6, GOLD, "bob", "ada"),
            declared(7, GOLD),
            declared(8, OTHER, "eve"),
        ]
    )
    assert turns(story.ask(3)) == [("gold", 7, "ada, bob", ""), ("gold", 6, "ada", "ada, bob"), ("raw", 5, "", "eve")]
    assert turns(story.ask(3, until=6)) == [("gold", 6, "ada", "ada, bob"), ("raw", 5, "", "eve")]
    assert turns(story.ask(7)) == []
    found = story.ask(3)
    assert found.completeness.complete
    assert [(one.change, one.event and one.event.time) for one in found.changes if one.kind is ChangeKind.OWNERS][
        :1
    ] == [("removed", 7 * HOUR)]


def test_what_runs_say_changes_owners_where_they_differ(story: Story) -> None:
    story.tell(
        [ran(hour, ["ops"] if hour < 40 else ["data"], ["ada"] if hour < 70 else ["bob"]) for hour in range(1, 90)]
    )
    assert turns(story.ask(10)) == [("gold", 70, "ada", "bob"), ("build", 40, "ops", "data")]
    assert turns(story.ask(50, until=60)) == []
    # Who owned it first is a change, too.
    assert turns(story.ask(0, until=30)) == [("gold", 1, "", "ada"), ("build", 1, "", "ops")]


def test_who_is_declared_an_owner_between_two_runs_is_one_until_the_next(story: Story) -> None:
    story.tell([ran(hour, gold=["ada"]) for hour in range(1, 60, 2)])
    story.tell([declared(12, GOLD, "bob")])
    assert turns(story.ask(5))[:2] == [("gold", 13, "bob", "ada"), ("gold", 12, "ada", "bob")]


def test_both_kinds_of_logs_know_owners(log: Log, tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    story = Story(engine, log)
    story.tell([ran(1, ["ops"]), declared(2, GOLD, "ada"), declared(4, GOLD, "bob"), ran(5, ["data"])])
    assert turns(story.ask(3)) == [("build", 5, "ops", "data"), ("gold", 4, "ada", "bob")]
    engine.dispose()


def test_without_the_log_it_is_said_that_owners_are_not_known(story: Story, tmp_path: Path) -> None:
    story.tell([ran(1), declared(2, GOLD, "ada"), declared(4, GOLD, "bob")])
    assert open_local_log("", "") is None
    assert open_local_log(str(tmp_path / "elsewhere"), "") is None
    assert open_local_log("kafka://127.0.0.1:1/topic", f"sqlite:///{tmp_path / 'none.db'}") is None
    with reading(story.engine) as connection:
        unread = ask(StoreGraph(connection), connection, 3, 1_000, None)
        empty = LocalLog(open_log(str(tmp_path / "empty"))).owners(connection)
        assert turns(ask(StoreGraph(connection), connection, 3, 1_000, empty)) == []
    assert turns(unread) == []
    assert not_known(unread) == [(GOLD,)]
    assert (unread.completeness.complete, unread.completeness.stopped_by) == (False, "owners")
    assert turns(story.ask(10)) == []


def test_a_log_out_of_reach_is_said_too(story: Story, tmp_path: Path) -> None:
    story.tell([ran(1), declared(2, GOLD, "ada"), declared(4, GOLD, "bob")])
    away = LocalLog(open_log("kafka://127.0.0.1:1/topic?timeout=1", lambda: b"secret"))
    found = story.ask(3, local=away)
    assert not_known(found) == [(GOLD,)]
