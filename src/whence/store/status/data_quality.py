"""Results of data quality checks, as runs reported them for the datasets that they read and wrote."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, Subquery, func, select, tuple_, union

from whence.model.catalog import Window, sorted_distinct
from whence.model.lineage import Origin
from whence.openlineage.facets.assertions import (
    WARN,
    Assertion,
    ChecksPage,
    RunChecks,
    is_assertions_facet,
    parse_assertions,
)
from whence.store.graph.run_facets import read_reported_facets
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import lineage_edge, lineage_set, lineage_version, run_facets, run_lineage
from whence.store.status.run_attempts import read_twins

MOST_RUNS = 500
"""Runs read for one question about datasets, the latest first."""
MOST_LOOKED = 5_000
"""Runs read for one page of failed checks."""
_RUNS_PER_BATCH = 500
_GROUPS_PER_BATCH = 200
_LEAST_ID = -(1 << 63)


class CheckCounts(NamedTuple):
    """The last checks of a dataset in a run: how many held, failed, and failed with severity warn only, and the time
    (µs).
    """

    run_id: int
    time: int
    held: int
    failed: int
    warned: int


class RunFailures(NamedTuple):
    """The failed checks of a dataset in a run; `held`: the number of others. `time` (µs): of the last report."""

    time: int
    run_id: int
    dataset_id: int
    failed: tuple[Assertion, ...]
    held: int


class FailedChecksPage(NamedTuple):
    """Failed checks, the latest run first. `looked`: the sort key of the last one read if there are more."""

    found: tuple[RunFailures, ...]
    looked: tuple[int, int, int] | None


def read_quality(connection: Connection, dataset_ids: Iterable[int]) -> Mapping[int, CheckCounts]:
    """The last checks of each dataset, among the latest runs that read or wrote one of them."""
    ids = sorted_distinct(dataset_ids)
    runs = _list_runs(connection, ids)
    found: dict[int, CheckCounts] = {}
    for run_id, results_by_dataset in _read_assertions(connection, runs).items():
        for dataset_id, results in results_by_dataset.items():
            if dataset_id in ids and results:
                seen = _count_results(run_id, runs[run_id], results)
                found[dataset_id] = max(found.get(dataset_id, seen), seen, key=lambda one: one.time)
    return found


def read_checks(connection: Connection, dataset_ids: Iterable[int], at: int | None = None) -> ChecksPage:
    """The checks of datasets, by run: of the latest runs that read or wrote one of them, the latest first; as of a
    time (µs).
    """
    ids = sorted_distinct(dataset_ids)
    runs = _list_runs(connection, ids, at)
    is_cut = len(runs) > MOST_RUNS
    runs = dict(list(runs.items())[:MOST_RUNS])
    found = [
        RunChecks(runs[run_id], run_id, dataset_id, tuple(results))
        for run_id, results_by_dataset in _read_assertions(connection, runs, at).items()
        for dataset_id, results in results_by_dataset.items()
        if dataset_id in ids and results
    ]
    return ChecksPage(tuple(sorted(found, reverse=True)), "checks" if is_cut else None)


def read_checks_of_each(
    connection: Connection, groups: Sequence[frozenset[int]], at: int | None = None
) -> Sequence[ChecksPage]:
    """The same as `read_checks` of each group of datasets, with one query for many groups."""
    pages: list[ChecksPage] = []
    for start in range(0, len(groups), _GROUPS_PER_BATCH):
        some = groups[start : start + _GROUPS_PER_BATCH]
        touched = _list_runs_of_each(connection, {id_ for ids in some for id_ in ids}, at)
        runs = [_latest_runs([touched.get(id_, {}) for id_ in ids]) for ids in some]
        reports = _read_assertions(connection, {run_id for latest in runs for _, run_id in latest[:MOST_RUNS]}, at)
        pages += map(partial(_page_of, reports), some, runs)
    return pages


def _latest_runs(several: Iterable[Mapping[int, int]]) -> Sequence[tuple[int, int]]:
    """Runs of datasets with the times of their last events, the latest first."""
    last: dict[int, int] = {}
    for runs in several:
        last |= {run_id: max(time, last.get(run_id, time)) for run_id, time in runs.items()}
    return sorted(((time, run_id) for run_id, time in last.items()), reverse=True)


def _page_of(
    reports: Mapping[int, Mapping[int, Sequence[Assertion]]], ids: frozenset[int], runs: Sequence[tuple[int, int]]
) -> ChecksPage:
    found = (
        RunChecks(time, run_id, dataset_id, tuple(results))
        for time, run_id in runs[:MOST_RUNS]
        for dataset_id, results in reports.get(run_id, {}).items()
        if dataset_id in ids and results
    )
    return ChecksPage(tuple(sorted(found, reverse=True)), "checks" if len(runs) > MOST_RUNS else None)


def read_failed_checks(connection: Connection, window: Window) -> FailedChecksPage:
    """A page of failed checks, by run and dataset.

    Reads MOST_LOOKED runs at most. Groups all run facets: a second for millions.
    """
    runs = _runs_until(connection, window.after)
    found: list[RunFailures] = []
    for start in range(0, len(runs), _RUNS_PER_BATCH):
        some = dict(runs[start : start + _RUNS_PER_BATCH])
        found += [one for one in _failed(connection, some) if window.after is None or one[:3] < window.after]
        if len(found) >= window.limit:
            return FailedChecksPage(tuple(found[: window.limit]), None)
    last = (runs[-1][1], runs[-1][0], _LEAST_ID) if len(runs) == MOST_LOOKED else None
    return FailedChecksPage(tuple(found), last)


def _runs_until(connection: Connection, after: tuple[str | int, ...] | None) -> Sequence[tuple[int, int]]:
    """Runs and the times of their last facets, the latest first, starting at a sort key."""
    last = func.max(run_facets.c.time).label("last")
    runs = select(run_facets.c.run_id, last).group_by(run_facets.c.run_id).subquery()
    order = (runs.c.last, runs.c.run_id)
    query = select(runs.c.run_id, runs.c.last)
    if after is not None:
        query = query.where(tuple_(*order) <= tuple_(*after[:2]))
    rows = connection.execute(query.order_by(*(one.desc() for one in order)).limit(MOST_LOOKED))
    return [(run_id, time) for run_id, time in rows]


def _failed(connection: Connection, runs: Mapping[int, int]) -> Iterator[RunFailures]:
    """Yield the failures of these runs, in order."""
    reports = _read_assertions(connection, runs)
    twins = read_twins(connection, reports)
    twin_runs = {one for some in twins.values() for one in some} - set(runs)
    times = {**runs, **_last_report_times(connection, twin_runs)}
    reports = {**reports, **_read_assertions(connection, twin_runs)}
    for run_id, time in runs.items():
        for dataset_id in sorted(reports.get(run_id, {}), reverse=True):
            same = [one for one in twins.get(run_id, ()) if dataset_id in reports.get(one, {})]
            if any((times[one], one) > (time, run_id) for one in same):
                continue  # the latest run of the same attempt reports it
            results = _merge_reports([reports[one][dataset_id] for one in (run_id, *sorted(same))])
            failed = tuple(result for result in results if not result.held)
            if failed:
                yield RunFailures(time, run_id, dataset_id, failed, len(results) - len(failed))


def _merge_reports(reports: Sequence[Sequence[Assertion]]) -> Sequence[Assertion]:
    """The first report, and the assertions that only the others have."""
    first, *others = reports
    known = {(one.name, one.column) for one in first}
    more = {(one.name, one.column): one for some in others for one in some}
    return (*first, *(one for which, one in more.items() if which not in known))


def _last_report_times(connection: Connection, runs: Iterable[int]) -> Mapping[int, int]:
    """The time of the last facets of each run."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(runs)])
    last = func.max(run_facets.c.time).label("last")
    query = select(run_facets.c.run_id, last).join(wanted, wanted.c.id == run_facets.c.run_id)
    return {row.run_id: row.last for row in connection.execute(query.group_by(run_facets.c.run_id))}


def _read_assertions(
    connection: Connection, runs: Iterable[int], at: int | None = None
) -> Mapping[int, Mapping[int, Sequence[Assertion]]]:
    """The assertions of runs by dataset, as each run reported them last; as of a time (µs)."""
    latest: dict[tuple[int, int], dict[str, Sequence[Assertion]]] = {}
    for reported in read_reported_facets(connection, runs):
        if at is not None and reported.time > at:
            continue
        for role, dataset_id, key, payload in reported.facets:
            if is_assertions_facet(role, key):
                latest.setdefault((reported.run_id, dataset_id), {})[role] = parse_assertions(payload)
    found: dict[int, dict[int, Sequence[Assertion]]] = {}
    for (run_id, dataset_id), by_role in latest.items():
        found.setdefault(run_id, {})[dataset_id] = _merge_reports(
            [by_role[role] for role in sorted(by_role, reverse=True)]
        )  # written after read
    return found


def _count_results(run_id: int, time: int, results: Sequence[Assertion]) -> CheckCounts:
    held = sum(result.held for result in results)
    warned = sum(result.severity == WARN and not result.held for result in results)
    return CheckCounts(run_id, time, held, len(results) - held - warned, warned)


def _list_runs(connection: Connection, dataset_ids: Sequence[int], at: int | None = None) -> dict[int, int]:
    """The latest runs that read or wrote one of these datasets, the latest first, with the times of their last events,
    one more than MOST_RUNS; as of a time.
    """
    versions = _versions_at(connection, dataset_ids)
    of_sets = select(versions.c.id).distinct().subquery()
    last = func.max(run_lineage.c.time).label("last")
    query = select(run_lineage.c.run_id, last).join(of_sets, of_sets.c.id == run_lineage.c.version)
    if at is not None:
        query = query.where(run_lineage.c.time <= at)
    latest = (last.desc(), run_lineage.c.run_id.desc())
    rows = connection.execute(query.group_by(run_lineage.c.run_id).order_by(*latest).limit(MOST_RUNS + 1)).all()
    return {row.run_id: row.last for row in rows}


def _list_runs_of_each(
    connection: Connection, dataset_ids: Iterable[int], at: int | None
) -> Mapping[int, Mapping[int, int]]:
    """The same for each dataset: one more than MOST_RUNS of its latest runs."""
    versions = _versions_at(connection, sorted_distinct(dataset_ids))
    last = func.max(run_lineage.c.time).label("last")
    touched = select(versions.c.dataset_id, run_lineage.c.run_id, last).join(
        run_lineage, versions.c.id == run_lineage.c.version
    )
    if at is not None:
        touched = touched.where(run_lineage.c.time <= at)
    each = touched.group_by(versions.c.dataset_id, run_lineage.c.run_id).subquery()
    latest = (each.c.last.desc(), each.c.run_id.desc())
    place = func.row_number().over(partition_by=each.c.dataset_id, order_by=latest).label("place")
    ranked = select(each, place).subquery()
    found: dict[int, dict[int, int]] = {}
    for row in connection.execute(select(ranked).where(ranked.c.place <= MOST_RUNS + 1)):
        found.setdefault(row.dataset_id, {})[row.run_id] = row.last
    return found


def _versions_at(connection: Connection, dataset_ids: Sequence[int]) -> Subquery:
    """The versions of lineage that read or write one of some datasets, with the dataset."""
    wanted = integers(connection, ("id",), [(one,) for one in dataset_ids])
    ends = [
        select(lineage_version.c.id, wanted.c.id.label("dataset_id"))
        .join(lineage_edge, lineage_edge.c.set_id == lineage_version.c.set_id)
        .join(wanted, wanted.c.id == end)
        .join(lineage_set, lineage_set.c.id == lineage_version.c.set_id)
        .where(lineage_set.c.origin == Origin.BOUNDARY)
        for end in (lineage_edge.c.source_id, lineage_edge.c.target_id)
    ]
    return union(*ends).subquery()
