"""What changed upstream of a column: one timeline, the same in any order of arrival, and for whoever may see it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from query.worlds.revenue_story import (
    CHANGED,
    CLEAN,
    COUPON,
    EVENTS,
    GOLD,
    HOUR,
    INGEST,
    NOW,
    PROMO,
    RAW,
    REVENUE,
    SILVER,
    SINCE,
    TOTAL,
    events_of,
    reported,
    run_name,
)
from whence.cli.commands.app import app
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.model.access import Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.names import FieldName, JobName, Node
from whence.query.answers.values import Question
from whence.query.history.changes import transitions
from whence.query.history.changes.period import Period, read_period
from whence.query.history.changes.timeline import upstream_changes
from whence.query.history.changes.values import Unknown, UpstreamChanges
from whence.query.rendering.timeline import changes_listing
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.graph import VisibleGraph, seen_by
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

AMOUNT, NET = FieldName(RAW, "amount"), FieldName(SILVER, "net")
GOLDEN = Path(__file__).parent / "upstream_changes.txt"
DAY = Period(since=SINCE, until=NOW)


def ask(
    engine: Engine,
    node: Node = TOTAL,
    period: Period = DAY,
    viewer: Viewer | None = None,
    most: int = 1_000,
    **question: Any,
) -> UpstreamChanges:
    with reading(engine) as connection:
        graph, catalog = StoreGraph(connection), StoreCatalog(connection)
        shown = graph if viewer is None else seen_by(viewer, b"secret", graph)
        contracts = EvaluatedContracts(catalog, shown)
        if isinstance(shown, VisibleGraph) and viewer is not None:
            scoped = StoreCatalog(connection, scope=scope_of(viewer, catalog.every_namespace()))
            contracts = EvaluatedContracts(VisibleCatalog(shown.visible_ids, scoped), shown)
        return upstream_changes(shown, contracts, node, period, Question(**question), most)


def rows_of(found: UpstreamChanges) -> list[tuple[Any, ...]]:
    return [
        (one.time // HOUR, one.kind, one.change, one.node, one.distance, tuple(map(_part, one.parts)))
        for one in found.changes
    ]


def _part(one: Any) -> tuple[Any, ...]:
    return tuple(filter(None, (one.name, one.end, one.before, one.after)))


BROKEN = ("holds", "violated, expected integer, found varchar")
TIMELINE = [
    (16, "contract", "changed", RAW, 2, (("version", "1.0.0", "2.0.0"),)),
    (16, "contract", "fulfilled", AMOUNT, 2, (("violated", "holds"),)),
    (15, "quality", "recovered", TOTAL, 0, (("not_null", "failed", "held"),)),
    (14, "quality", "failed", TOTAL, 0, (("not_null", "held", "failed"),)),
    (13, "lineage", "added", NET, 1, ((FieldName(PROMO, "discount"), "DIRECT IDENTITY"),)),
    (13, "run", "recovered", CLEAN, 2, (("FAIL", "COMPLETE"),)),
    (12, "run", "failed", CLEAN, 2, (("COMPLETE", "FAIL"),)),
    (11, "schema", "changed", AMOUNT, 2, (("amount", "int", "varchar"),)),
    (11, "contract", "violated", AMOUNT, 2, (BROKEN,)),
]


def test_a_column_has_the_changes_on_its_own_way_and_of_its_own_environment(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = ask(store)
    assert sorted(rows_of(found), key=str) == sorted(TIMELINE, key=str)
    assert [one.time for one in found.changes] == sorted((one.time for one in found.changes), reverse=True)
    assert (found.datasets, found.jobs) == (4, 3)


def test_the_job_that_fills_a_source_and_reads_nothing_is_upstream_of_its_columns(store: Engine) -> None:
    """No edge between columns is its: only the one to the dataset."""
    apply_bodies(store, [*EVENTS, reported(INGEST, 20, RunState.FAIL, {}, {RAW: CHANGED})])
    failed = [one for one in rows_of(ask(store)) if one not in TIMELINE]
    assert failed == [(20, "run", "failed", INGEST, 3, (("COMPLETE", "FAIL"),))]


def test_every_change_is_proven_by_its_event_run_and_producer(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    proofs = {(one.time // HOUR, one.kind.value): one for one in ask(store).changes}
    assert all(one.event is not None and one.event.time == one.time for one in proofs.values())
    assert proofs[12, "run"].run == run_name(CLEAN, 12)
    assert (proofs[11, "schema"].job, proofs[11, "schema"].run) == (INGEST, run_name(INGEST, 11))
    assert proofs[13, "lineage"].run == run_name(CLEAN, 13)
    assert proofs[14, "quality"].run == run_name(REVENUE, 14)
    (applied,) = [one for one in ask(store).changes if one.parts[0].name == "version"]
    assert applied.event is not None
    assert applied.event.producer == "https://whence/user:ada"


def test_a_whole_dataset_has_the_changes_of_all_columns(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = [one for one in ask(store, GOLD).changes if one.kind == "schema" and one.node == RAW]
    assert [(part.name, part.change.value) for one in found for part in one.parts] == [
        ("amount", "changed"),
        (COUPON, "added"),
    ]
    jobs = [(one.time // HOUR, one.change.value) for one in ask(store, REVENUE).changes if one.kind == "run"]
    assert jobs == [(13, "recovered"), (12, "failed")]


def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    answers = []
    for seed in range(4):
        engine = open_migrated(sqlite_url(tmp_path / f"{seed}.db"))
        shuffled = list(EVENTS)
        random.Random(seed).shuffle(shuffled)
        cut = len(shuffled) // 2 if seed else len(shuffled)
        apply_bodies(engine, shuffled[:cut])
        apply_bodies(engine, [*shuffled[cut:], *shuffled[:3]], first=1_000)
        answers.append(_without_positions(ask(engine)))
        engine.dispose()
    assert answers[0]["changes"]
    assert all(one == answers[0] for one in answers)


def _without_positions(found: UpstreamChanges) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(changes_listing(found).document()))
    del document["graph_version"]
    for one in document["changes"]:
        del one["event"]["position"]
    return document


def test_the_past_is_what_was_reported_by_then(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    then = rows_of(ask(store, period=Period(since=SINCE, until=12 * HOUR)))
    assert {row[0] for row in then} == {11, 12}
    assert rows_of(ask(store, period=Period(since=16 * HOUR, until=NOW))) == []


def test_who_sees_one_namespace_learns_nothing_of_the_others(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    viewer = Viewer(name="user:ada", grants=(Grant(Role.READER, GOLD.namespace),), hidings=())
    found = ask(store, viewer=viewer)
    text = changes_listing(found).csv() + json.dumps(changes_listing(found).document())
    assert "spark-prod" not in text
    assert not any(one.time // HOUR == 12 for one in found.changes)
    reasons = {one.reason: one.total for one in found.not_known}
    assert reasons[Unknown.HIDDEN] == found.completeness.hidden_nodes == 3
    assert Unknown.CHECKS_WITHHELD in reasons
    assert found.completeness.stopped_by == "access"


def test_a_hidden_source_is_counted_and_its_changes_are_left_out(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    viewer = Viewer(name="user:eve", grants=(Grant(Role.READER, "spark-prod"),), hidings=())
    found = ask(store, REVENUE, viewer=viewer)
    assert {one.node for one in found.changes} == {CLEAN}
    assert "postgres" not in changes_listing(found).csv()


def test_what_is_not_known_is_said(store: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    apply_bodies(store, EVENTS)
    assert {(one.reason, one.nodes) for one in ask(store).not_known} == {(Unknown.SCHEMA, (PROMO,))}
    assert len(ask(store, most=2).changes) == 2
    assert ask(store, most=2).completeness.stopped_by == "changes"
    assert ask(store, max_nodes=1).completeness.stopped_by == "nodes"
    monkeypatch.setattr(transitions, "MOST_RUNS", 1)
    cut = ask(store)
    assert cut.completeness.stopped_by == "runs"
    assert Unknown.RUNS in {one.reason for one in cut.not_known}


def test_a_schema_that_returned_is_a_change(store: Engine) -> None:
    first, *_, changed = (event for event in events_of("prod") if b"ingest" in event)
    again = first.replace(b"1970-01-01T01:00:00", b"1970-01-01T20:00:00").replace(b"000000000001", b"000000000020")
    apply_bodies(store, [first, changed, again])
    steps = [one for one in ask(store, AMOUNT).changes if one.kind == "schema"]
    assert [(one.time // HOUR, one.parts[0].before, one.parts[0].after) for one in steps] == [
        (20, "varchar", "int"),
        (11, "int", "varchar"),
    ]


def test_a_node_without_a_past_has_no_changes(store: Engine) -> None:
    apply_bodies(store, EVENTS)
    found = ask(store, INGEST, Period(since=0, until=HOUR // 2))
    assert found.changes == ()
    assert ask(store, JobName("spark-dev", "ingest")).changes == ()


def test_periods() -> None:
    assert read_period("24h", None, None, 30 * HOUR) == Period(since=6 * HOUR, until=30 * HOUR, is_now=True)
    assert read_period("2h", None, "1970-01-01T05:00", 30 * HOUR) == Period(since=3 * HOUR, until=5 * HOUR)
    for since, until in (("tomorrow", None), ("1h", "2h"), ("1970-01-09", None)):
        with pytest.raises(ValueError, match="write"):
            read_period(since, until, None, 30 * HOUR)


def test_the_command_prints_a_timeline_and_the_same_as_json_and_csv(tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    apply_bodies(engine, EVENTS)
    engine.dispose()

    def whence(*words: str) -> str:
        done = CliRunner().invoke(app, ["changes", *words, "--data", str(tmp_path)])
        assert done.exit_code in (0, 3), done.output
        return done.stdout

    period = ("--since", "1970-01-01T10:00", "--until", "1970-01-02")
    text = whence(str(GOLD), *period, "--limit", "9")
    assert "\x1b" not in text
    lines = [line for line in text.splitlines() if not line.startswith("      by ")]
    assert lines == GOLDEN.read_text().splitlines()
    found = json.loads(whence(str(TOTAL), *period, "-o", "json"))
    assert [(one["kind"], one["change"]) for one in found["changes"]] == [
        (one.kind.value, one.change.value) for one in _answer(tmp_path).changes
    ]
    header = "time,kind,change,node,distance,parts,job,run,event"
    assert whence(str(TOTAL), *period, "-o", "csv").splitlines()[0] == header
    assert "0 changes in" in whence(str(TOTAL), "--as-of", "1970-01-01T10:00", "--since", "2h")
    wrong = CliRunner().invoke(app, ["changes", str(TOTAL), "--since", "soon", "--data", str(tmp_path)])
    assert wrong.exit_code == 2


def _answer(data: Path) -> UpstreamChanges:
    engine = open_store(sqlite_url(data / "store.db"))
    found = ask(engine)
    engine.dispose()
    return found
