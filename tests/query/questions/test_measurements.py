"""Measurements as answers: of a dataset by any of its names, of a column, of a job; as of a time; for some viewers."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.model.access import Grant, Hiding, Role, Viewer
from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.write import dataset, dataset_event, facet, run_event
from whence.query.questions import measurements as question
from whence.query.questions.measurements import Measurements, measurements
from whence.query.visibility.graph import seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

HOUR = 3_600_000_000
TABLE, PATH = DatasetName("db", "gold.orders"), DatasetName("s3://lake", "orders")
LOAD, CHECK = JobName("spark", "load"), JobName("secret", "check")


def run_of(job: JobName, number: int) -> RunName:
    return RunName(f"01890000-0000-7000-8000-{int(job == CHECK):04d}{number:08d}", job)


def loaded(number: int, rows: int) -> dict[str, Any]:
    """A run that writes the dataset under its path, which is a symlink of the table."""
    link = {"namespace": TABLE.namespace, "name": TABLE.name, "type": "TABLE"}
    output = dataset(
        PATH,
        facets={"symlinks": facet("SymlinksDatasetFacet", identifiers=[link])},
        outputFacets={"outputStatistics": facet("OutputStatisticsOutputDatasetFacet", rowCount=rows, size=rows * 100)},
    )
    return run_event(number * HOUR, RunState.COMPLETE, run_of(LOAD, number), outputs=[output])


def checked(number: int, nulls: int) -> dict[str, Any]:
    columns = {"total": {"nullCount": nulls, "max": 9.5}, "salary": {"max": 120_000, "min": "ada"}}
    metrics = facet("DataQualityMetricsInputDatasetFacet", rowCount=7, columnMetrics=columns)
    schema = facet("SchemaDatasetFacet", fields=[{"name": name, "type": "int"} for name in columns])
    read = dataset(TABLE, facets={"schema": schema}, inputFacets={"dataQualityMetrics": metrics})
    return run_event(number * HOUR, RunState.COMPLETE, run_of(CHECK, number), inputs=[read])


EVENTS = [
    run_event(1 * HOUR - 90_500_000, RunState.START, run_of(LOAD, 1)),
    loaded(1, 10),
    loaded(3, 30),
    checked(2, 4),
    run_event(5 * HOUR, RunState.START, run_of(LOAD, 5)),
    dataset_event(
        4 * HOUR, TABLE, facets={"dataQualityMetrics": facet("DataQualityMetricsInputDatasetFacet", rowCount=40)}
    ),
]


@pytest.fixture
def ask(store: Engine) -> Iterator[Callable[..., Measurements]]:
    apply_bodies(store, [json.dumps(event).encode() for event in EVENTS])
    with ExitStack() as stack:

        def asked(
            node: Node = TABLE, at: int | None = None, metrics: tuple[str, ...] = (), viewer: Viewer | None = None
        ) -> Measurements:
            graph = StoreGraph(stack.enter_context(reading(store)))
            return measurements(seen_by(viewer, b"secret", graph) if viewer else graph, node, at, metrics)

        yield asked


def rows_of(found: Measurements) -> list[tuple[Any, ...]]:
    return [(one.time // HOUR, one.column, one.facet, one.metric, one.value) for one in found.measurements]


WRITTEN = [
    (3, "", "outputStatistics", "rowCount", 30),
    (3, "", "outputStatistics", "size", 3_000),
    (1, "", "outputStatistics", "rowCount", 10),
    (1, "", "outputStatistics", "size", 1_000),
]
OF_COLUMNS = [
    (2, "salary", "dataQualityMetrics", "max", 120_000),
    (2, "total", "dataQualityMetrics", "max", 9.5),
    (2, "total", "dataQualityMetrics", "nullCount", 4),
]
OF_DATASET = [(4, "", "dataQualityMetrics", "rowCount", 40), (2, "", "dataQualityMetrics", "rowCount", 7)]


def newest_first(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: (-row[0], row[1:4]))


def test_a_dataset_has_what_was_measured_under_any_of_its_names(ask: Callable[..., Measurements]) -> None:
    everything = newest_first([*WRITTEN, *OF_COLUMNS, *OF_DATASET])
    for name in (TABLE, PATH):
        found = ask(name)
        assert rows_of(found) == everything
        assert found.completeness.complete
    runs = {(one.time // HOUR, one.role): one.run for one in ask().measurements}
    assert runs == {
        (4, ""): None,
        (3, "output"): run_of(LOAD, 3),
        (2, "input"): run_of(CHECK, 2),
        (1, "output"): run_of(LOAD, 1),
    }


def test_of_a_column_or_of_some_metrics(ask: Callable[..., Measurements]) -> None:
    assert rows_of(ask(FieldName(TABLE, "total"))) == OF_COLUMNS[1:]
    assert rows_of(ask(metrics=("nullCount", "size"))) == newest_first([*WRITTEN[1::2], OF_COLUMNS[2]])


def test_as_of_a_time(ask: Callable[..., Measurements]) -> None:
    assert rows_of(ask(at=1 * HOUR)) == WRITTEN[2:]
    assert {time for time, *_ in rows_of(ask(at=3 * HOUR))} == {1, 2, 3}
    assert rows_of(ask(LOAD, at=1 * HOUR - 1)) == []


def test_how_long_the_runs_of_a_job_took(ask: Callable[..., Measurements]) -> None:
    """Only those of which start and end are known."""
    (one,) = ask(LOAD).measurements
    assert (one.metric, one.value, one.run, one.time) == ("duration", 90.5, run_of(LOAD, 1), HOUR)


def test_a_hidden_column_and_a_hidden_job_stay_hidden(ask: Callable[..., Measurements]) -> None:
    grants = tuple(Grant(Role.READER, namespace) for namespace in ("db", "spark"))
    viewer = Viewer(name="user:ann", grants=grants, hidings=(Hiding("db", "gold.*", "salary"),))
    found = ask(viewer=viewer)
    assert "salary" not in {one.column for one in found.measurements}
    assert ("total", "nullCount", 4) in {(one.column, one.metric, one.value) for one in found.measurements}
    assert not [text for text in ("salary", "120000", "secret", "check", PATH.namespace) if text in str(found)]
    assert run_of(LOAD, 3) not in {one.run for one in found.measurements}, "written under a name that is hidden"
    assert not ask(FieldName(TABLE, "salary"), viewer=viewer).measurements
    assert not ask(PATH, viewer=viewer).measurements
    assert not ask(CHECK, viewer=viewer).measurements


def test_a_budget_that_cuts_is_reported(ask: Callable[..., Measurements], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "MOST_REPORTS", 2)
    found = ask()
    assert (found.completeness.complete, found.completeness.stopped_by) == (False, "measurements")
    assert {time for time, *_ in rows_of(found)} == {3, 4}
