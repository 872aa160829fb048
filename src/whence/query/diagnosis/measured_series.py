"""Series of measurements of datasets, from the facets that reported them, and the times at which they were written."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from whence.model.events import RunState
from whence.model.graph import MeasurementRow
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.diagnosis.case import Aspect, Series
from whence.query.history.changes.transitions import TimelineGraph
from whence.query.questions.measurements import MOST_REPORTS

MOST_RUNS = 10_000
"""Runs whose ends one question reads: the latest."""

Metrics = Mapping[str, int | float]
_INPUT = "input"
"""The role of measurements by a job that read the dataset. What its writer measured is preferred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Measurements and completed writes of datasets. `is_cut`: there are more reports than were read."""

    series: Mapping[DatasetName, tuple[Series, ...]]
    writes: Mapping[DatasetName, tuple[int, ...]]
    is_cut: bool


def observe(
    graph: TimelineGraph,
    ids: Mapping[DatasetName, Sequence[int]],
    writers: Mapping[DatasetName, AbstractSet[int]],
    until: int,
) -> Observed:
    """What is known at a time of datasets, each with the ids of all its names, and the jobs that write it."""
    rows = graph.measurements(sorted(id_ for several in ids.values() for id_ in several), until, MOST_REPORTS + 1)
    by_id: dict[int, list[MeasurementRow]] = {}
    for row in rows[:MOST_REPORTS]:
        by_id.setdefault(row.dataset_id, []).append(row)
    ends: dict[int, set[int]] = {}
    for run in graph.run_ends(sorted({job for several in writers.values() for job in several}), 0, until, MOST_RUNS):
        if run.state is RunState.COMPLETE:
            ends.setdefault(node_id(run.name.job), set()).add(run.state_at)
    return Observed(
        series={
            name: series_of([row for id_ in several for row in by_id.get(id_, ())]) for name, several in ids.items()
        },
        writes={
            name: tuple(sorted({time for job in writers.get(name, ()) for time in ends.get(job, ())})) for name in ids
        },
        is_cut=len(rows) > MOST_REPORTS,
    )


def series_of(rows: Sequence[MeasurementRow]) -> tuple[Series, ...]:
    """A series of each aspect of the dataset and of each column."""
    written: dict[tuple[Aspect, str, str], dict[int, float]] = {}
    read: dict[tuple[Aspect, str, str], dict[int, float]] = {}
    totals = _row_counts(rows)
    for row in sorted(rows, key=lambda row: (row.time, row.run_id, row.facet)):
        found = read if row.role == _INPUT else written
        for key, value in _values(row, totals.get((row.run_id, row.time))):
            found.setdefault(key, {})[row.time] = value
    chosen = {**read, **written}
    return tuple(
        Series(aspect=aspect, metric=metric, column=column, points=tuple(sorted(points.items())))
        for (aspect, column, metric), points in sorted(chosen.items())
    )


def _row_counts(rows: Iterable[MeasurementRow]) -> Mapping[tuple[int, int], float]:
    """The number of rows that each run reported at a time."""
    return {
        (row.run_id, row.time): float(value)
        for row in rows
        for column, metric, value in row.values
        if not column and metric == "rowCount"
    }


def _values(row: MeasurementRow, rows: float | None) -> Iterable[tuple[tuple[Aspect, str, str], float]]:
    by_column: dict[str, dict[str, int | float]] = {}
    for column, metric, value in row.values:
        by_column.setdefault(column, {})[metric] = value
    for column, metrics in by_column.items():
        if not column:
            if "rowCount" in metrics:
                yield (Aspect.ROWS, "", "rowCount"), float(metrics["rowCount"])
            continue
        yield from _of_column(column, metrics, rows)


def _of_column(column: str, metrics: Metrics, rows: float | None) -> Iterable[tuple[tuple[Aspect, str, str], float]]:
    nulls, count = metrics.get("nullCount"), metrics.get("count")
    total = rows if rows is not None else None if count is None else float(count) + float(nulls or 0)
    if nulls is not None and total:
        yield (Aspect.NULLS, column, "nullCount"), float(nulls) / total
    if "distinctCount" in metrics and total:
        yield (Aspect.DISTINCT, column, "distinctCount"), float(metrics["distinctCount"]) / total
    filled = float(count) if count is not None else None if total is None else total - float(nulls or 0)
    if "sum" in metrics and filled:
        yield (Aspect.VALUES, column, "mean"), float(metrics["sum"]) / filled
