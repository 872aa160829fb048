"""What is known of contracted datasets at a time: their columns, measurements, checks and last writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from whence.govern.contracts.evaluation.quality import CheckResult, Report
from whence.govern.contracts.evaluation.service_levels import LastWrite
from whence.model.graph import FOREVER, MeasurementRow, SchemaRow
from whence.model.ids import node_id
from whence.model.names import DatasetName, RunName
from whence.openlineage.facets.assertions import RunChecks
from whence.openlineage.facets.measurements import METRICS
from whence.query.history.schemas import columns_of, schema_at
from whence.query.lookup.contracts import ContractVersion
from whence.query.ports.graph import Past
from whence.query.questions.measurements import Measured

MOST_REPORTS = 100
"""Facets with measurements that are read for one dataset: the latest."""


class Observed(Past, Measured, Protocol):
    """A graph with its history, with measurements and checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedData:
    """What is known of a dataset. `columns`: name → type; the reports and checks: the latest first.

    `silent`: why nobody knows whether it was written after that; empty: it is known.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    reports: tuple[Report, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    written: LastWrite | None = None
    silent: str = ""


def observe(
    graph: Observed, held: Mapping[DatasetName, ContractVersion], at: int | None
) -> Mapping[DatasetName, ObservedData]:
    """What is known of these datasets by all their names, as far as their contracts ask for it; as of a time (µs)."""
    ids = ids_of(graph, list(held))
    schemas = _schemas(graph, ids)
    return {
        name: ObservedData(
            columns=columns_of(schema_at(schemas[name], at)),
            reports=tuple(read_reports(graph, ids[name], at, MOST_REPORTS)) if has_rules(version) else (),
            checks=tuple(read_checks(graph, ids[name], at)) if has_rules(version) else (),
            written=_last_write(graph, ids[name], at) if version.levels else None,
        )
        for name, version in held.items()
    }


def last_write(graph: Observed, name: DatasetName, at: int) -> LastWrite | None:
    """The last completed write of a dataset, by any of its names, not after a time (µs)."""
    return _last_write(graph, ids_of(graph, [name])[name], at)


def times_of_reports(graph: Observed, name: DatasetName, until: int, limit: int) -> tuple[frozenset[int], int | None]:
    """When the columns of a dataset, its measurements or its checks were reported (µs), of each the latest; and from
    when on these are all, None if they all are.
    """
    ids = ids_of(graph, [name])[name]
    schemas = graph.schemas(ids)
    times = {time for row in schemas for time in (row.first_time, row.last_time)}
    measured = [row.time for row in graph.measurements(ids, until, limit + 1, METRICS)]
    page = graph.checks(ids, until)
    checked = [row.time for row in page.found]
    starts = (
        min(measured) if len(measured) > limit else None,
        min(checked, default=until) if page.stopped_by == "checks" else None,
    )
    every = frozenset(time for time in (*times, *measured, *checked) if time <= until)
    return every, max((one for one in starts if one is not None), default=None)


def has_rules(version: ContractVersion) -> bool:
    """Whether measurements or checks decide a rule of a version."""
    return bool(version.rules) or any(one.required or one.unique for one in version.columns)


def ids_of(graph: Observed, names: Sequence[DatasetName]) -> Mapping[DatasetName, frozenset[int]]:
    """The ids of each dataset under all its names."""
    groups = graph.groups([node_id(one) for one in names])
    return {name: frozenset(node_id(one) for one in (name, *groups.get(node_id(name), ()))) for name in names}


def _schemas(graph: Observed, ids: Mapping[DatasetName, frozenset[int]]) -> Mapping[DatasetName, Sequence[SchemaRow]]:
    rows = graph.schemas({id_ for some in ids.values() for id_ in some}) if ids else ()
    return {name: [row for row in rows if row.dataset_id in some] for name, some in ids.items()}


def read_reports(graph: Observed, ids: frozenset[int], at: int | None, limit: int) -> Iterator[Report]:
    """What runs measured of a dataset, the latest first. Only `dataQualityMetrics` is about all of its rows; other
    numbers are of what a run read or wrote.
    """
    rows = graph.measurements(ids, at, limit, METRICS)
    runs = read_runs(graph, [row.run_id for row in rows])
    for row in rows:
        yield Report(time=row.time, run=runs.get(row.run_id), numbers=dict(_numbers(row)), dataset_id=row.dataset_id)


def _numbers(row: MeasurementRow) -> Iterator[tuple[tuple[str, str], int | float]]:
    return (((column.casefold(), metric), value) for column, metric, value in row.values)


def read_checks(graph: Observed, ids: frozenset[int], at: int | None) -> Iterator[CheckResult]:
    """The results of the checks of a dataset, the latest first."""
    rows = graph.checks(ids, at).found
    runs = read_runs(graph, [row.run_id for row in rows])
    return (one for row in rows for one in _results(row, runs.get(row.run_id)))


def _results(row: RunChecks, run: RunName | None) -> Iterator[CheckResult]:
    for one in row.checks:
        found = f"found {one.actual}" if one.actual else ""
        yield CheckResult(name=one.name, column=one.column or "", held=one.held, time=row.time, run=run, found=found)


def _last_write(graph: Observed, ids: frozenset[int], at: int | None) -> LastWrite | None:
    touches = graph.writers([(id_, FOREVER if at is None else at) for id_ in ids])
    last = max(touches, key=lambda one: (one.time, one.run_id), default=None)
    if last is None:
        return None
    return LastWrite(last.time, read_runs(graph, [last.run_id]).get(last.run_id))


def read_runs(graph: Observed, ids: Sequence[int]) -> Mapping[int, RunName]:
    """The names of runs."""
    wanted = {one for one in ids if one}
    return {row.id: row.name for row in graph.runs(wanted)} if wanted else {}
