"""Nine tenths of a store are forgotten: nothing expired is left, the graph is as it was, and the store is small."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine, func, select

from retention.worlds import DAY, FIRST_DAY, bodies, derive, log_of, opened
from whence.derive.archive.copy import archive_log, drop_archived
from whence.derive.rebuild import rebuild
from whence.errors import PlanOutdatedError, StoreBusyError, StoreError
from whence.govern.retention import apply_plan, open_plan
from whence.log.segments.log import SegmentLog
from whence.model.names import DatasetName
from whence.query.answers.values import Question
from whence.query.questions.lineage import reach_downstream, reach_upstream
from whence.query.rendering.listings import lineage_listing
from whence.store.connection.engine import read_progress, reading, sqlite_url, writing
from whence.store.connection.lock import hold_derive_lock
from whence.store.connection.vacuum import measure_store, shrink_store
from whence.store.ingest.retention_summary import RetentionHorizon, read_horizons, record_summary, run_summary
from whence.store.lifecycle import purge
from whence.store.lifecycle.dump import dump
from whence.store.schema.tables import dataset, dirty_key
from whence.store.snapshots.graph import StoreGraph
from whence.store.status.ledger import read_ledger
from whence.store.status.overview import read_overview

EVENTS, JOBS = 6_000, 10
DAYS = EVENTS // JOBS * 10 // 23
HORIZON = RetentionHorizon(runs=FIRST_DAY + DAYS * 9 // 10 * DAY, keep=5, history=FIRST_DAY + DAYS // 2 * DAY)

Json = dict[str, Any]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> SegmentLog:
    """A log of most of a year."""
    return log_of(tmp_path_factory.mktemp("log"), bodies(EVENTS, JOBS))


@pytest.fixture
def filled(spark: SparkSession, log: SegmentLog, store: Engine) -> Engine:
    """A store with all of it."""
    derive(spark, log, store)
    return store


def state(engine: Engine) -> list[Json]:
    return [json.loads(line) for line in dump(engine)]


def now(lines: list[Json]) -> list[str]:
    """What holds now."""
    holding = [
        line
        for line in lines
        if line.get("derived") in ("edge", "alias_group")
        or (line.get("derived") == "validity_interval" and line["to"] is None)
    ]
    return sorted(json.dumps(line, sort_keys=True) for line in holding)


def answers(engine: Engine) -> list[Json]:
    """What is upstream and downstream of every dataset, without the evidence."""
    with reading(engine) as connection:
        graph = StoreGraph(connection)
        names = [DatasetName(*row) for row in connection.execute(select(dataset.c.namespace, dataset.c.name))]
        found = [
            lineage_listing(reach(graph, name, Question())).document()
            for name in sorted(names)
            for reach in (reach_upstream, reach_downstream)
        ]
    for answer in found:
        for edge in answer["edges"]:
            del edge["evidence"]
    return found


def counts(engine: Engine) -> Any:
    """What a store says that it received, and from whom."""
    standing = read_overview(engine)
    assert standing.ledger == read_ledger(engine)
    return standing.ledger, standing.refusals, standing.producers


def bytes_of(engine: Engine) -> int:
    with reading(engine) as connection:
        return measure_store(connection)


def test_the_graph_stays_and_the_store_shrinks(spark: SparkSession, log: SegmentLog, store: Engine) -> None:
    empty = bytes_of(store)
    derive(spark, log, store)
    before, asked, ledger, old_size = state(store), answers(store), counts(store), bytes_of(store)
    with open_plan(store, HORIZON) as (plan, expired):
        assert sum(1 for _ in expired.iterate_keys()) > 0
    assert apply_plan(store, HORIZON, plan) == plan.rows
    assert plan.rows["run"] > 0.85 * sum(1 for line in before if line.get("fact") == "run")
    after = state(store)
    assert now(after) == now(before)
    assert answers(store) == asked
    assert counts(store) == ledger
    runs = [line for line in after if line.get("fact") == "run" and line["seen_to"] is not None]
    assert min(line["seen_to"] for line in runs) >= HORIZON.runs
    assert not [
        line
        for line in after
        if line.get("derived") == "validity_interval" and (line["to"] or DAY**2) <= HORIZON.history
    ]
    counted = sum(1 for line in before if line.get("fact") == "run" and line["seen_to"]) - len(runs)
    with reading(store) as connection:
        assert connection.execute(select(func.sum(run_summary.c.runs))).scalar() == counted
    shrink_store(store)
    assert bytes_of(store) - empty < 0.25 * (old_size - empty)
    assert state(store) == after


def test_a_purge_that_lost_its_lock_stops_and_the_next_one_finishes(
    filled: Engine, spark: SparkSession, log: SegmentLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_ledger(filled), now(state(filled))
    monkeypatch.setattr(purge, "CHUNK", 500)

    def check_lock() -> None:
        """Lost as soon as runs are on their way."""
        with reading(filled) as connection:
            if connection.execute(select(run_summary)).first():
                raise StoreError("the lock was lost")

    with pytest.raises(StoreError, match="the lock was lost"):
        purge.enforce_horizon(filled, HORIZON, check_lock)
    assert (read_ledger(filled), now(state(filled))) == before
    with reading(filled) as connection:
        assert [one.finished for one in read_horizons(connection)] == [False]
    monkeypatch.undo()
    purge.resume_purge(filled)
    with opened(sqlite_url(tmp_path / "other.db")) as other:
        derive(spark, log, other)
        apply_plan(other, HORIZON)
        assert state(filled) == state(other)
        assert summaries(filled) == summaries(other)


def summaries(engine: Engine) -> list[Any]:
    with reading(engine) as connection:
        return [sorted(map(tuple, connection.execute(select(table)))) for table in (run_summary, record_summary)]


def test_a_rebuild_forgets_the_same(spark: SparkSession, store: Engine, store_url: str, tmp_path: Path) -> None:
    some = bodies(1_500, 5)
    log = log_of(tmp_path / "log", some[:800])
    derive(spark, log, store)
    apply_plan(store, RetentionHorizon(runs=FIRST_DAY + 40 * DAY, keep=2, history=FIRST_DAY + 20 * DAY))
    log_of(tmp_path / "log", [*some[800:1_200], *some[:3]])
    derive(spark, log, store)
    apply_plan(store, RetentionHorizon(runs=FIRST_DAY + 80 * DAY, keep=0, history=FIRST_DAY + 60 * DAY))
    log_of(tmp_path / "log", some[1_200:])
    derive(spark, log, store)
    before = state(store), summaries(store), read_ledger(store)
    assert read_ledger(store).received == 1_503
    store.dispose()
    rebuild(spark, log, store_url)
    assert (state(store), summaries(store), read_ledger(store)) == before
    archive = str(tmp_path / "archive")
    archive_log(spark, log, archive)
    assert len(drop_archived(log, archive, read_progress(store))) > 3
    rebuild(spark, log, store_url, archive)
    assert (state(store), summaries(store), read_ledger(store)) == before


def test_a_plan_of_a_store_that_moved_on_is_refused(spark: SparkSession, store: Engine, tmp_path: Path) -> None:
    some = bodies(400, 5)
    log = log_of(tmp_path / "log", some[:300])
    derive(spark, log, store)
    horizon = RetentionHorizon(runs=FIRST_DAY + 30 * DAY, keep=1, history=FIRST_DAY + 30 * DAY)
    with open_plan(store, horizon) as (plan, _):
        pass
    log_of(tmp_path / "log", some[300:])
    derive(spark, log, store)
    before = state(store)
    with pytest.raises(PlanOutdatedError, match="nothing was deleted"):
        apply_plan(store, horizon, plan)
    assert state(store) == before
    with hold_derive_lock(store), pytest.raises(StoreBusyError):
        apply_plan(store, horizon)


def test_what_a_killed_pipeline_left_is_settled_first(store: Engine) -> None:
    with writing(store) as connection:
        connection.execute(dirty_key.insert().values(statement_id=1, owner_id=2, kind=0))
    with pytest.raises(StoreError, match="start the pipeline once"):
        apply_plan(store, HORIZON)


def test_an_empty_store_has_nothing_to_forget(store: Engine) -> None:
    with open_plan(store, HORIZON) as (plan, _):
        assert not any(plan.rows.values())
    assert apply_plan(store, HORIZON) == plan.rows
