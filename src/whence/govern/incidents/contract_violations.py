"""The violations of all contracts in a store at a time, read for many datasets together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from whence.govern.contracts.evaluation.observations import Observed, has_rules, ids_of, read_reports, read_runs
from whence.govern.contracts.evaluation.quality import CheckResult, Report
from whence.govern.contracts.evaluation.service_levels import LastWrite
from whence.govern.contracts.evaluation.violations import ObservedHistory, Violation, find_violations
from whence.model.catalog import Window
from whence.model.events import RunState
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName
from whence.query.lookup.contracts import CARRIERS, ContractedDataset, contracted_datasets
from whence.query.ports.catalog import Catalog
from whence.query.questions.dropped_datasets import DroppedDatasets
from whence.store.status.check_streaks import CheckedResult

MOST_REPORTS = 2_000
"""Reports, and writes, that are read for one dataset: the latest."""
_TOGETHER = 20_000
"""Reports, and writes, that are read for several datasets together. If they have more, each is read for itself."""
_AT_ONCE = 50
"""Datasets whose history is in memory at one time."""

Ids = Mapping[DatasetName, frozenset[int]]
"""The ids of a dataset, under all its names."""


class ContractGraph(Observed, DroppedDatasets, Protocol):
    """A graph with what is observed of datasets, and with their drops."""


def read_violations(
    catalog: Catalog, graph: ContractGraph, results: Iterable[CheckedResult], at: int
) -> Iterator[Violation]:
    """The violations that were known at a time (µs). Those of a dropped dataset ended when it was dropped. `results`:
    of all checks, in order.
    """
    carriers = {id_ for facet in CARRIERS for id_ in catalog.carrying(facet) if kind_of(id_) is Kind.DATASET}
    contracted = contracted_datasets(catalog, [one for _, one in sorted(catalog.entries(carriers).items())])
    checks: dict[int, list[CheckedResult]] = {}
    for result in results:
        checks.setdefault(result.dataset_id, []).append(result)
    for first in range(0, len(contracted), _AT_ONCE):
        some = contracted[first : first + _AT_ONCE]
        histories = _observe(catalog, graph, some, checks, at)
        for one in some:
            found = find_violations(one, histories[one.name], at)
            yield from _until_dropped(found, graph.dropped_at(node_id(one.name), at) if found else None)


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
    at: int,
) -> Mapping[DatasetName, ObservedHistory]:
    ids = ids_of(graph, [one.name for one in datasets])
    ruled = {one.name: ids[one.name] for one in datasets if any(map(has_rules, one.versions))}
    levelled = {one.name: ids[one.name] for one in datasets if any(each.levels for each in one.versions)}
    schemas = list(graph.schemas({id_ for some in ids.values() for id_ in some}))
    reports, writes = _reports(graph, ruled, at), _writes(catalog, levelled, at)
    checked = _check_results(graph, ruled, checks)
    return {
        name: ObservedHistory(
            schemas=tuple(row for row in schemas if row.dataset_id in some),
            reports=reports.get(name, ()),
            checks=checked.get(name, ()),
            writes=writes.get(name, ()),
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
