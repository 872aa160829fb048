"""The violations of all contracts in a store at a time, read for many datasets together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from whence.govern.contracts.evaluation.observations import Observed, has_rules, ids_of, read_reports, read_runs
from whence.govern.contracts.evaluation.quality import CheckResult, Report
from whence.govern.contracts.evaluation.service_levels import LastWrite
from whence.govern.contracts.evaluation.silent_sources import SilentTime, read_silent_times
from whence.govern.contracts.evaluation.violations import ObservedHistory, Violation, find_violations
from whence.model.catalog import Window
from whence.model.events import RunState
from whence.model.graph import FOREVER
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName
from whence.openlineage.facets.assertions import ChecksPage
from whence.query.lookup.contracts import CARRIERS, ContractedDataset, contracted_datasets
from whence.query.ports.catalog import Catalog
from whence.query.questions.dropped_datasets import DroppedDatasets
from whence.store.status.check_streaks import CheckedResult

MOST_REPORTS = 2_000
"""Reports, and writes, that are read for one dataset at first: the latest."""
MOST_READ = 256_000
"""Reports that are read for one dataset to find from when on a rule is violated."""
_TOGETHER = 20_000
"""Reports, and writes, that are read for several datasets together. If they have more, each is read for itself."""
_AT_ONCE = 50
"""Datasets whose history is in memory at one time."""

Ids = Mapping[DatasetName, frozenset[int]]
"""The ids of a dataset, under all its names."""


class ContractGraph(Observed, DroppedDatasets, Protocol):
    """A graph with what is observed of datasets, and with their drops."""


class _Span(NamedTuple):
    """Violations that ended before `since` do not count; what was known at `at` does (µs)."""

    since: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedContract:
    """The violations of the contract of a dataset, and when its source was silent. `reach`: from when on all reports
    and writes were read (µs).
    """

    dataset: DatasetName
    violations: Sequence[Violation]
    silent: Sequence[SilentTime]
    reach: int


def read_judged_contracts(
    catalog: Catalog, graph: ContractGraph, results: Iterable[CheckedResult], at: int, since: int
) -> Iterator[JudgedContract]:
    """All contracts as they were known at a time (µs). Violations of a dropped dataset ended when it was dropped. Those
    that ended before `since` (µs) may be left out, or begin later than they did. `results`: of all checks, in order.
    """
    carriers = {id_ for facet in CARRIERS for id_ in catalog.carrying(facet) if kind_of(id_) is Kind.DATASET}
    yield from _judge(catalog, graph, _contracted(catalog, carriers), results, _Span(since, at))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentViolations:
    """Violations that began in a period, the latest first. `complete`: it is known that there are no others."""

    found: tuple[Violation, ...] = ()
    complete: bool = True


def read_recent_violations(
    catalog: Catalog, graph: ContractGraph, datasets: Iterable[DatasetName], since: int, until: int
) -> RecentViolations:
    """The violations of these datasets that began after `since` and not after `until` (µs), by what is known then."""
    contracted = _contracted(catalog, map(node_id, datasets))
    pages = graph.checks_of_each([*ids_of(graph, [one.name for one in contracted]).values()], until)
    results = [
        CheckedResult(one.run_id, one.time, one.dataset_id, assertion)
        for page in pages
        for one in page.found
        for assertion in one.checks
    ]
    judged = list(_judge(catalog, graph, contracted, results, _Span(since, until)))
    found = [one for each in judged for one in each.violations if since < one.since]
    ordered = sorted(found, key=lambda one: (-one.since, str(one.dataset), one.verdict.rule, one.verdict.column))
    reaches = [*map(_reach_of_checks, pages), *(each.reach for each in judged)]
    return RecentViolations(found=tuple(ordered), complete=max(reaches, default=0) <= since)


def _reach_of_checks(page: ChecksPage) -> int:
    """The time from which on all checks were read; never if the viewer may not read them."""
    if page.stopped_by is None:
        return 0
    return min((one.time for one in page.found), default=FOREVER)


def _reach(reports: Sequence[Report], limit: int) -> int:
    """The time from which on all reports were read, of at most so many."""
    return reports[-1].time if len(reports) >= limit else 0


def _reach_of_writes(seen: ObservedHistory) -> int:
    return seen.writes[0].time if len(seen.writes) >= MOST_REPORTS else 0


def _judge(
    catalog: Catalog,
    graph: ContractGraph,
    contracted: Sequence[ContractedDataset],
    results: Iterable[CheckedResult],
    span: _Span,
) -> Iterator[JudgedContract]:
    """The violations of each contract."""
    checks: dict[int, list[CheckedResult]] = {}
    for result in results:
        checks.setdefault(result.dataset_id, []).append(result)
    for first in range(0, len(contracted), _AT_ONCE):
        some = contracted[first : first + _AT_ONCE]
        histories = _observe(catalog, graph, some, checks, span)
        for one in some:
            seen, reach = _with_beginnings(graph, one, histories[one.name], span)
            found = find_violations(one, seen, span.at)
            dropped_at = graph.dropped_at(node_id(one.name), span.at) if found else None
            yield JudgedContract(
                dataset=one.name,
                violations=list(_until_dropped(found, dropped_at)),
                silent=seen.silent,
                reach=max(reach, _reach_of_writes(seen)),
            )


def _with_beginnings(
    graph: Observed, one: ContractedDataset, seen: ObservedHistory, span: _Span
) -> tuple[ObservedHistory, int]:
    """What was observed, with older reports until the beginning of each violation is known: the last good report before
    it names its incident, so another one must not take its place as the latest reports move on. And the time from which
    on all reports were read (µs).
    """
    begin = min((version.applied_at for version in one.versions), default=0)
    limit = max(len(seen.reports), MOST_REPORTS)
    while (reach := _reach(seen.reports, limit)) > begin and limit < MOST_READ:
        if not _is_cut(find_violations(one, seen, span.at), span):
            break
        limit *= 4
        ids = ids_of(graph, [one.name])[one.name]
        seen = replace(seen, reports=tuple(read_reports(graph, ids, span.at, limit)))
    return seen, reach


def _is_cut(found: Iterable[Violation], span: _Span) -> bool:
    """Whether a violation that counts has no good report before it, among the reports that were read."""
    return any(one.good_at == 0 and (one.until is None or one.until > span.since) for one in found)


def _contracted(catalog: Catalog, dataset_ids: Iterable[int]) -> Sequence[ContractedDataset]:
    """Those of the datasets that have, or had, a contract."""
    return contracted_datasets(catalog, [one for _, one in sorted(catalog.entries(dataset_ids).items())])


def _until_dropped(found: Sequence[Violation], dropped_at: int | None) -> Iterator[Violation]:
    for one in found:
        if dropped_at is None or (one.until is not None and one.until <= dropped_at):
            yield one
        elif one.since < dropped_at:
            yield Violation(
                dataset=one.dataset, since=one.since, until=dropped_at, good_at=one.good_at, verdict=one.verdict
            )


def _observe(
    catalog: Catalog,
    graph: Observed,
    datasets: Sequence[ContractedDataset],
    checks: Mapping[int, Sequence[CheckedResult]],
    span: _Span,
) -> Mapping[DatasetName, ObservedHistory]:
    ids = ids_of(graph, [one.name for one in datasets])
    ruled = {one.name: ids[one.name] for one in datasets if any(map(has_rules, one.versions))}
    levelled = {one.name: ids[one.name] for one in datasets if any(each.levels for each in one.versions)}
    schemas = list(graph.schemas({id_ for some in ids.values() for id_ in some}))
    reports, writes = _reports(graph, ruled, span.at), _writes(catalog, levelled, span.at)
    checked = _check_results(graph, ruled, checks)
    named = {one.name: one for one in datasets}
    silent = {name: read_silent_times(catalog, named[name], some, span.at) for name, some in writes.items()}
    return {
        name: ObservedHistory(
            schemas=tuple(row for row in schemas if row.dataset_id in some),
            reports=reports.get(name, ()),
            checks=checked.get(name, ()),
            writes=writes.get(name, ()),
            silent=silent.get(name, ()),
        )
        for name, some in ids.items()
    }


def _check_results(
    graph: Observed, wanted: Ids, checks: Mapping[int, Sequence[CheckedResult]]
) -> Mapping[DatasetName, tuple[CheckResult, ...]]:
    found = {name: [one for id_ in ids for one in checks.get(id_, ())] for name, ids in wanted.items()}
    runs = read_runs(graph, [one.run_id for some in found.values() for one in some])
    return {
        name: tuple(
            CheckResult(
                name=one.assertion.name,
                column=one.assertion.column or "",
                held=one.assertion.held,
                time=one.time,
                run=runs.get(one.run_id),
                found=f"found {one.assertion.actual}" if one.assertion.actual else "",
            )
            for one in sorted(some, key=lambda one: (one.time, one.run_id), reverse=True)
        )
        for name, some in found.items()
    }


def _reports(graph: Observed, wanted: Ids, at: int) -> Mapping[DatasetName, tuple[Report, ...]]:
    every = frozenset(id_ for ids in wanted.values() for id_ in ids)
    together = list(read_reports(graph, every, at, _TOGETHER)) if every else []
    if len(together) == _TOGETHER:
        return {name: tuple(read_reports(graph, ids, at, MOST_REPORTS)) for name, ids in wanted.items()}
    return {name: tuple(one for one in together if one.dataset_id in ids) for name, ids in wanted.items()}


def _writes(catalog: Catalog, wanted: Ids, at: int) -> Mapping[DatasetName, tuple[LastWrite, ...]]:
    every = {id_ for ids in wanted.values() for id_ in ids}
    together = catalog.writes_of_all(every, Window(limit=_TOGETHER)) if every else ()
    found: dict[DatasetName, tuple[LastWrite, ...]] = {}
    for name, ids in wanted.items():
        own = (
            [one for one in together if one.dataset_id in ids]
            if len(together) < _TOGETHER
            else catalog.writes_of_all(ids, Window(limit=MOST_REPORTS))
        )
        completed = (one for one in own if one.run.state is RunState.COMPLETE and one.time <= at)
        ordered = sorted(completed, key=lambda one: (one.time, one.run.id))
        found[name] = tuple(LastWrite(one.time, one.run.name) for one in ordered)
    return found
