"""Indicators of lineage follow from what runs reported, and from when the log received it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply
from whence.govern.slos.evaluation.judge import Judgement, judge
from whence.govern.slos.evaluation.observations import observe_datasets
from whence.govern.slos.objectives import Objective
from whence.govern.slos.received_times import ReceivedTimes
from whence.govern.slos.slo_file import read_slos
from whence.govern.slos.suggestions import suggest_objectives
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import column_lineage, dataset, dataset_event, facet, own_facet, run_event
from whence.store.connection.engine import sqlite_url
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

HOUR, DAY = 3_600_000_000, 86_400_000_000
NOW = 1_790_000_000_000_000
RAW, RATES, ORDERS, OTHER = (
    DatasetName(f"postgres://{stage}:5432", name)
    for stage, name in (
        ("prod", "shop.raw"),
        ("prod", "shop.rates\u202e"),
        ("prod", "shop.orders"),
        ("staging", "shop.orders"),
    )
)
LOAD, BUILD, STREAM = (JobName("airflow", name) for name in ("load", "build [bold]", "stream"))
COLUMNS = ("id", "total", "when")
RUNS = 12


def _event(number: int, job: JobName, state: RunState, time: int, **more: Any) -> tuple[int, dict[str, Any]]:
    run = RunName(f"01890000-0000-7000-8000-{number:012}", job)
    return time, run_event(time, state, run, **more)


def _output(covered: int) -> dict[str, Any]:
    """Orders with a schema, and the sources of so many of its columns."""
    fields = [{"name": name, "type": "text"} for name in COLUMNS]
    edges = [
        Edge(source=FieldName(source, name), target=FieldName(ORDERS, name), type="DIRECT")
        for name in COLUMNS[:covered]
        for source in (RAW, RATES)
    ]
    facets = {"schema": facet("SchemaDatasetFacet", fields=fields)}
    return dataset(ORDERS, facets={**facets, "columnLineage": column_lineage(edges)} if covered else facets)


def _events() -> Iterator[tuple[int, dict[str, Any]]]:
    """The job build runs every hour for 12 hours. Its columns are all covered until run 6, then one of three; it reads
    a dataset that a run writes, and one that only becomes an origin by assertion at run 8; the end of run 3 and the
    start of run 9 never came. All runs but 10 are received after 2 minutes.
    """
    begin = NOW - 4 * DAY
    yield _event(0, LOAD, RunState.COMPLETE, begin - HOUR, outputs=[dataset(RAW)])
    yield (
        begin + 8 * HOUR - 1,
        dataset_event(
            begin + 8 * HOUR - 1, RATES, facets={"whence_boundary": own_facet("BoundaryDatasetFacet", origin=True)}
        ),
    )
    for number in range(1, RUNS + 1):
        at = begin + number * HOUR
        if number != 9:
            yield _event(number, BUILD, RunState.START, at - HOUR // 2)
        if number != 3:
            more = {"inputs": [dataset(RAW), dataset(RATES)], "outputs": [_output(3 if number < 6 else 1)]}
            yield _event(number, BUILD, RunState.COMPLETE, at, **more)
    stream = {"jobType": facet("JobTypeJobFacet", processingType="STREAMING", integration="FLINK", jobType="JOB")}
    yield _event(99, STREAM, RunState.START, begin, job_facets=stream, outputs=[dataset(ORDERS)])
    yield _event(50, BUILD, RunState.START, begin - 1)
    yield _event(50, BUILD, RunState.COMPLETE, begin, outputs=[dataset(OTHER)])


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, SegmentLog]]:
    """The log and the store with these events."""
    base: Path = tmp_path_factory.mktemp("lineage")
    log = SegmentLog(base / "log")
    writer = log.open_writer()
    drafts = []
    for time, event in _events():
        one = accept(json.dumps(event).encode())
        delay = 3 * HOUR if event.get("run", {}).get("runId", "").endswith("10") else HOUR // 30
        key = bytes.fromhex(one.key)
        drafts.append(Draft(kind=Kind.EVENT, key=key, received_at=time + delay, payload=one.payload))
    writer.append(drafts)
    writer.close()
    engine = open_migrated(sqlite_url(base / "store.db"))
    end = committed_end(base / "log")
    apply(engine, list(read_records(base / "log", start_position(base / "log"), end)), end)
    yield engine, log
    engine.dispose()


def _objective(lineage: dict[str, str], name: DatasetName = ORDERS) -> Objective:
    one = {"name": "x", "dataset": str(name), "indicator": {"lineage": lineage}, "objective": {"target": "99%"}}
    return read_slos(json.dumps({"version": 1, "service": "shop", "slos": [one]})).objectives[0]


def _judge(estate: tuple[Engine, SegmentLog], lineage: dict[str, str], at: int = NOW) -> Judgement:
    engine, log = estate
    with snapshot(engine) as connection:
        catalog = StoreCatalog(connection, read_received=ReceivedTimes(log))
        one = _objective(lineage)
        return judge(one, observe_datasets(catalog, StoreGraph(connection), [one], at, at)[ORDERS], at)


BEGIN = NOW - 4 * DAY
COVERAGE = {"metric": "coverage", "atLeast": "60%"}
UNKNOWN = {"metric": "unknownUpstream", "atMost": "5%"}
LATENCY = {"metric": "captureLatency", "atMost": "5m"}
LOSS = {"metric": "loss"}


@pytest.mark.parametrize(
    ("lineage", "outcome", "observed", "bad", "total"),
    [
        (COVERAGE, "violated", "the run reports sources of 1 of 3 columns", 7, 11),
        ({**COVERAGE, "atLeast": "33%"}, "holds", "the run reports sources of 1 of 3 columns", 0, 11),
        (UNKNOWN, "holds", "nobody knows where 0 of 2 sources come from", 6, 11),
        (LATENCY, "holds", "received 120 s after it happened", 1, 11),
        (LOSS, "violated", "its end never came", 2, 14),
    ],
)
def test_each_indicator(
    estate: tuple[Engine, SegmentLog], lineage: dict[str, str], outcome: str, observed: str, bad: int, total: int
) -> None:
    found = _judge(estate, lineage)
    assert found.budget is not None
    assert (found.outcome, found.observed, found.budget.bad, found.budget.total) == (outcome, observed, bad, total)


def test_at_a_time_only_what_had_happened_counts(estate: tuple[Engine, SegmentLog]) -> None:
    found = _judge(estate, COVERAGE, BEGIN + 5 * HOUR)
    assert (found.outcome, found.budget and found.budget.total) == ("holds", 4)
    assert _judge(estate, UNKNOWN, BEGIN + 7 * HOUR).outcome == "violated"
    assert _judge(estate, UNKNOWN, BEGIN + 8 * HOUR).since == BEGIN + 8 * HOUR
    # A run without an end is lost a day after its last event, not before.
    lost_at = BEGIN + 3 * HOUR - HOUR // 2 + DAY
    assert [one.start for one in _judge(estate, LOSS).violations][-1] == lost_at
    assert _judge(estate, LOSS, lost_at - 1).outcome == "holds"


def test_what_cannot_be_known_is_not_evaluated(estate: tuple[Engine, SegmentLog]) -> None:
    engine, _ = estate
    with snapshot(engine) as connection:
        for lineage, name, reason in (
            (LATENCY, ORDERS, "the log does not have the event of the run any more, or was not read"),
            (COVERAGE, OTHER, "no run has reported the columns of the dataset"),
            (UNKNOWN, OTHER, "the run reports no dataset that it read"),
            (UNKNOWN, RATES, "no run has reported it"),
        ):
            one = _objective(lineage, name)
            facts = observe_datasets(StoreCatalog(connection), StoreGraph(connection), [one], NOW, NOW)[name]
            found = judge(one, facts, NOW)
            assert (found.outcome, found.reason) == ("not evaluated", reason)


def test_suggestions_are_what_was_kept(estate: tuple[Engine, SegmentLog]) -> None:
    engine, log = estate
    with snapshot(engine) as connection:
        catalog = StoreCatalog(connection, read_received=ReceivedTimes(log))
        objectives = [_objective(COVERAGE), _objective(LOSS)]
        facts = observe_datasets(catalog, StoreGraph(connection), objectives, NOW, NOW)[ORDERS]
    found = {one.name.partition(" ")[2].partition("orders ")[2]: one for one in suggest_objectives(ORDERS, facts, NOW)}
    assert found["loses no runs"].target == "80"
    assert found["is captured in time"].indicator == {"lineage": {"metric": "captureLatency", "atMost": "6h"}}
    assert "has column lineage" not in found
