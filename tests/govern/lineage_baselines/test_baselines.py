"""Lineage baselines in a store: what differs, what does not, what people read of it, and the same in any order."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from govern.lineage_baselines.lineage_story import HOUR, HR, MART, RAW, STAGING, filled, made, staged
from whence.govern.incidents.findings import FindingKind
from whence.govern.lineage_baselines.current import accept_upstream, compare_baselines, compare_one
from whence.govern.lineage_baselines.documents import baseline_document
from whence.govern.lineage_baselines.drift import find_drift
from whence.govern.lineage_baselines.records import baseline_event, held_baselines
from whence.govern.lineage_baselines.upstream import UpstreamEdge, UpstreamLineage
from whence.govern.reports.documents import report_document
from whence.govern.reports.gather import ReportSources, gather_report
from whence.govern.reports.period import ReportPeriod
from whence.govern.rule_states.current import evaluate_rules
from whence.govern.rule_states.findings import lineage_findings
from whence.govern.rule_states.records import list_rule_transitions
from whence.model.access import OPEN, Grant, Role, Viewer
from whence.model.names import DatasetName, FieldName
from whence.model.records.lineage_baselines import LineageBaselineRecord
from whence.openlineage.authority.restrictions import person_uri
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

ADA, LATER = person_uri("key:ada"), 100 * HOUR
EXTRA = ("sum", STAGING, "amount", "sum(amount)")
HISTORY = [
    (staged(1, HOUR), made(1, HOUR)),
    # Not on the way to the mart: a column of the staging table that it does not use, from the same table.
    (staged(2, 10 * HOUR, "upper(id)", ("note", RAW, "note", "note")),),
    (staged(3, 20 * HOUR, "lower(id)"),),
    (made(4, 30 * HOUR, EXTRA),),
    (staged(6, 50 * HOUR), made(6, 50 * HOUR)),
    (staged(7, 60 * HOUR, "upper(id)", ("pay", HR, "pay", "pay")),),
    (filled(8, 70 * HOUR),),
]
ACCEPTED = 5 * HOUR


def open_new(path: Path) -> Engine:
    engine = open_migrated(f"sqlite:///{path}")
    return engine


@pytest.fixture(scope="module")
def bodies(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Everything that was received: the runs, and the acceptance of what the first runs reported."""
    engine = open_new(tmp_path_factory.mktemp("accepting") / "store.db")
    apply_bodies(engine, HISTORY[0])
    with snapshot(engine) as connection:
        record = accept_upstream(StoreGraph(connection), MART, "it is right \x1b[31m")
    engine.dispose()
    accepted = json.dumps(baseline_event(record, MART.namespace, ACCEPTED, ADA)).encode()
    return [one for some in HISTORY for one in some] + [accepted]


@pytest.fixture(scope="module")
def store(bodies: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = open_new(tmp_path_factory.mktemp("baselines") / "store.db")
    apply_bodies(engine, bodies)
    yield engine
    engine.dispose()


def documents(engine: Engine) -> list[str]:
    """What is answered at each time, as text."""
    with snapshot(engine) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        return [
            json.dumps(baseline_document(MART, compare_one(catalog, graph, MART, LATER, at), {}, at, OPEN))
            for at in (HOUR, *range(ACCEPTED, LATER, 10 * HOUR))
        ]


def changes(engine: Engine, at: int | None) -> list[tuple[str, str | None, str]]:
    with snapshot(engine) as connection:
        found = compare_one(StoreCatalog(connection), StoreGraph(connection), MART, LATER, at)
    assert found is not None
    assert found.drift.forgotten == 0
    return [(one.change, _name(one.edge.source), _name(one.edge.target) or "") for one in found.drift.changes]


def _name(node: object) -> str | None:
    match node:
        case FieldName(dataset, field):
            return f"{dataset.name.partition('.')[2][:7] or dataset.name}.{field}"
        case DatasetName(_, name):
            return name.partition(".")[2][:7] or name
    return None


def test_what_differs_at_each_time(store: Engine) -> None:
    with snapshot(store) as connection:
        assert held_baselines(StoreCatalog(connection), ACCEPTED - 1) == {}
        (held,) = held_baselines(StoreCatalog(connection)).values()
    assert (held.time, held.producer, held.record.reason) == (ACCEPTED, ADA, "it is right \x1b[31m")
    assert changes(store, ACCEPTED) == []
    assert changes(store, 10 * HOUR) == []
    assert changes(store, 20 * HOUR) == [("changed", "orders.id", "staging.id")]
    assert changes(store, 30 * HOUR) == [
        ("added", "staging.amount", "mart\x1b[3.sum"),
        ("changed", "orders.id", "staging.id"),
    ]
    assert changes(store, 50 * HOUR) == []
    # The new column is not on the way, but a table that is joined may change the rows.
    assert changes(store, 60 * HOUR) == [("added", "salaries", "staging")]
    # From then on the mart may show any column of the staging table.
    assert changes(store, None) == [
        ("added", None, "mart\x1b[3"),
        ("added", "salaries", "staging"),
        ("added", "salaries.pay", "staging.pay"),
    ]


def test_the_same_events_in_any_order_give_the_same(store: Engine, bodies: list[bytes], tmp_path: Path) -> None:
    mixed = list(bodies)
    Random(3).shuffle(mixed)
    engine = open_new(tmp_path / "mixed.db")
    for first in range(0, len(mixed), 3):
        apply_bodies(engine, mixed[first : first + 3], first + 1)
    assert documents(engine) == documents(store)
    engine.dispose()


def test_each_difference_is_one_finding_until_it_is_over(bodies: list[bytes], tmp_path: Path) -> None:
    engine = open_new(tmp_path / "looks.db")
    received, place = [[*HISTORY[0], bodies[-1]], *HISTORY[1:]], 1
    for hour, some in zip((5, 15, 25, 35, 55, 65, 75), received, strict=True):
        apply_bodies(engine, some, place)
        place += len(some)
        with snapshot(engine) as connection:
            catalog, graph = StoreCatalog(connection), StoreGraph(connection)
            new = evaluate_rules(catalog, graph, hour * HOUR)
            assert list(evaluate_rules(catalog, graph, hour * HOUR).events) == list(new.events)
        apply_bodies(engine, [json.dumps(one).encode() for one in new.events], place)
        place += len(new.new)
    with snapshot(engine) as connection:
        sources = ReportSources(catalog=StoreCatalog(connection), graph=StoreGraph(connection), log=None)
        first, last = lineage_findings(list_rule_transitions(sources.catalog))
        reported = [
            report_document(gather_report(sources, ReportPeriod(since=since, end=end, until=end)), OPEN)["violations"]
            for since, end in ((20 * HOUR, 80 * HOUR), (20 * HOUR, 60 * HOUR), (30 * HOUR, 60 * HOUR))
        ]
    engine.dispose()
    assert [one["lineage_baselines"] for one in reported] == [2, 1, 0]
    assert (first.kind, first.dataset, first.since, first.until) == (FindingKind.LINEAGE, MART, 25 * HOUR, 55 * HOUR)
    assert first.reason == f"changed: {FieldName(RAW, 'id')} → {FieldName(STAGING, 'id')} " + (
        "(DIRECT TRANSFORMATION: upper(id) → DIRECT TRANSFORMATION: lower(id))"
    )
    assert (last.since, last.until, last.notify) == (65 * HOUR, None, "ticket")


def test_a_viewer_reads_names_that_they_may_see(store: Engine) -> None:
    viewer = Viewer(name="v", grants=(Grant(Role.READER, "postgres*"),))
    with snapshot(store) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        for at, hidden in ((20 * HOUR, 1), (30 * HOUR, 1), (None, 2)):
            found = compare_one(catalog, graph, MART, LATER, at)
            shown = baseline_document(MART, found, {}, LATER, viewer)
            assert (shown["state"], shown["hidden"], shown["reason"], shown["digest"]) == (
                "drifted",
                hidden,
                None,
                None,
            )
            assert not any(one in json.dumps(shown) for one in ("hr://", "s3://", "upper", "amount)"))


def test_an_ended_baseline_and_one_of_another_namespace(bodies: list[bytes], tmp_path: Path) -> None:
    engine = open_new(tmp_path / "ended.db")
    foreign = LineageBaselineRecord(dataset=str(MART), edges=("ab.cd",))
    ended = LineageBaselineRecord(dataset=str(MART), reason="over", ended=True)
    events = [baseline_event(foreign, "s3://other", 70 * HOUR, ADA), baseline_event(ended, MART.namespace, LATER, ADA)]
    apply_bodies(engine, [*bodies, *(json.dumps(one).encode() for one in events)])
    with snapshot(engine) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        assert [one.drift.state for one in compare_baselines(catalog, graph, 80 * HOUR)] == ["drifted"]
        assert list(compare_baselines(catalog, graph, LATER)) == []
        assert compare_one(catalog, graph, MART, LATER) is None
    engine.dispose()


def test_edges_that_the_store_forgot_are_counted_and_a_cut_reading_decides_nothing() -> None:
    one, other = (
        UpstreamEdge(source=FieldName(RAW, name), target=FieldName(MART, "id"), transformations=("DIRECT",))
        for name in ("a", "b")
    )
    record = LineageBaselineRecord(dataset=str(MART), edges=tuple(sorted((one.key, other.key))))
    now = UpstreamLineage(edges=(one,))
    found = find_drift(record, now, now)
    assert (found.state, found.changes, found.forgotten) == ("drifted", (), 1)
    assert find_drift(record, UpstreamLineage(edges=(one,), complete=False), now).state == "not evaluated"
