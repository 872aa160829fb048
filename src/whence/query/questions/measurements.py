"""Measurements of a dataset, a column or a job: numbers that runs reported of what they read and wrote, the newest
first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from whence.model.graph import MeasurementRow, RunRow
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.facets.assertions import ChecksPage
from whence.query.answers.completeness import completeness_of
from whence.query.answers.values import Completeness
from whence.query.ports.graph import Runs

MOST_REPORTS = 5_000
"""Facets, or runs of a job, that one question reads: the latest."""

DURATION = "duration"
"""The metric of a job: the seconds from the start of a run to its end."""


class Measured(Runs, Protocol):
    """A graph with measurements."""

    def measurements(
        self, dataset_ids: Iterable[int], at: int | None, limit: int, facet: str = ""
    ) -> Sequence[MeasurementRow]:
        """The facets that measure these datasets, the latest first, at most `limit`; as of a time (µs), None: now.

        With `facet` only those of this name.
        """
        ...

    def runs_forgotten_before(self) -> int | None:
        """The time (µs) before which retention may have deleted runs with what they measured, or None."""
        ...

    def checks(self, dataset_ids: Iterable[int], at: int | None) -> ChecksPage:
        """The checks of these datasets, by run, the latest first, as of a time; none for a restricted viewer."""
        ...

    def checks_of_each(self, groups: Sequence[frozenset[int]], at: int | None) -> Sequence[ChecksPage]:
        """The same for each group of datasets, as `checks` answers one, but read at once."""
        ...

    def ended_runs(self, job_id: int, at: int | None, limit: int) -> Sequence[RunRow]:
        """The runs of a job that started and ended, the latest end first, at most `limit`; as of a time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One number, and when it was reported (µs). `facet` and `role` are its source; a job's are empty. `run` is None
    if a dataset event reported it.
    """

    time: int
    dataset: DatasetName | None
    column: str
    facet: str
    role: str
    metric: str
    value: int | float
    run: RunName | None

    @property
    def order(self) -> tuple[int, str, str, str, str, str, str]:
        """The newest first, then by column and metric."""
        texts = self.column, self.facet, self.metric, self.role, str(self.dataset), str(self.run)
        return (-self.time, *texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """The measurements of a node, in order. If more was reported than was read, `completeness` reports it."""

    node: Node
    measurements: tuple[Measurement, ...]
    completeness: Completeness


def measurements(graph: Measured, node: Node, at: int | None, metrics: Sequence[str] = ()) -> Measurements:
    """The measurements of a dataset by any of its names, of one column, or of the runs of a job; with `metrics` only
    these.
    """
    found, is_cut = _of_job(graph, node, at) if isinstance(node, JobName) else _of_dataset(graph, node, at)
    chosen = sorted((one for one in found if not metrics or one.metric in metrics), key=lambda one: one.order)
    completeness = completeness_of(graph, at, stopped_by="measurements" if is_cut else None)
    return Measurements(node=node, measurements=tuple(chosen), completeness=completeness)


def _of_job(graph: Measured, job: JobName, at: int | None) -> tuple[list[Measurement], bool]:
    rows = graph.ended_runs(node_id(job), at, MOST_REPORTS + 1)
    return [_duration(row) for row in rows[:MOST_REPORTS]], len(rows) > MOST_REPORTS


def _duration(row: RunRow) -> Measurement:
    seconds = (row.state_at - (row.started_at or 0)) / 1_000_000
    return Measurement(
        time=row.state_at,
        dataset=None,
        column="",
        facet="",
        role="",
        metric=DURATION,
        value=seconds,
        run=row.name,
    )


def _of_dataset(graph: Measured, node: DatasetName | FieldName, at: int | None) -> tuple[list[Measurement], bool]:
    dataset, column = (node.dataset, node.field) if isinstance(node, FieldName) else (node, None)
    names = graph.groups([node_id(dataset)]).get(node_id(dataset), (dataset,))
    ids = {node_id(name): name for name in names}
    rows = graph.measurements(ids, at, MOST_REPORTS + 1)
    runs = {run.id: run.name for run in graph.runs({row.run_id for row in rows if row.run_id})}
    found = [
        one for row in rows[:MOST_REPORTS] for one in _values(row, ids, runs) if column is None or one.column == column
    ]
    return found, len(rows) > MOST_REPORTS


def _values(row: MeasurementRow, names: Mapping[int, DatasetName], runs: Mapping[int, RunName]) -> list[Measurement]:
    return [
        Measurement(
            time=row.time,
            dataset=names[row.dataset_id],
            column=column,
            facet=row.facet,
            role=row.role,
            metric=metric,
            value=value,
            run=runs.get(row.run_id),
        )
        for column, metric, value in row.values
    ]
