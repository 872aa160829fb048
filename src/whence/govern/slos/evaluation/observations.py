"""The facts of datasets that their objectives need, read from the store. Reports and checks are read as for
contracts.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import Any

from whence.govern.contracts.evaluation.observations import Observed, ids_of, read_checks, read_reports
from whence.govern.slos.evaluation.facts import Facts, ReportedLineage, ReportedRun, SchemaSeen, Write
from whence.govern.slos.evaluation.judge import history_since
from whence.govern.slos.evaluation.lineage_reports import read_lineage, read_runs
from whence.govern.slos.evaluation.silence import find_silences
from whence.govern.slos.objectives import Check, Lineage, LineageMetric, Measured, Objective, Quality, SchemaStability
from whence.model.catalog import Window
from whence.model.catalog import Write as StoredWrite
from whence.model.events import RunState
from whence.model.graph import MeasurementRow
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.answers.instants import instant
from whence.query.history.schemas import columns_of
from whence.query.ports.catalog import Catalog

MOST_WRITES = 20_000
"""Writes, and measurements, that are read for one dataset: the latest."""
_AT_ONCE = 20_000
"""Writes, and measurements, that are read for several datasets together. If they have more, each is read for itself."""
_PAGE = 1_000
_ROWS, _NOMINAL = "outputStatistics", "nominalTime"


def observe_datasets(
    catalog: Catalog, graph: Observed, objectives: Sequence[Objective], since: int, until: int
) -> Mapping[DatasetName, Facts]:
    """The facts by dataset that the objectives need for any time from an instant (µs) until another."""
    wanted: dict[DatasetName, list[Objective]] = {}
    for one in objectives:
        wanted.setdefault(one.dataset, []).append(one)
    ids = ids_of(graph, list(wanted))
    begins = {name: min(history_since(one, since) for one in some) for name, some in wanted.items()}
    written = {name: (ids[name], begins[name]) for name, some in wanted.items() if _needs_writes(some)}
    every = _recent_writes(catalog, written)
    stored = {name: [one for one in some if one.run.state is RunState.COMPLETE] for name, some in every.items()}
    writes = _writes(catalog, graph, stored, [ids for ids, _ in written.values()], until)
    silences = find_silences(catalog, objectives, writes, until)
    return {
        name: _with_lineage(
            replace(
                _facts(graph, name, ids[name], some, begins[name], until, writes.get(name, ())),
                silence=silences.get(name),
            ),
            partial(read_lineage, catalog, graph, ids[name], stored.get(name, ())),
            partial(read_runs, catalog, graph, every.get(name, ()), begins[name]),
            {one.indicator.metric for one in some if isinstance(one.indicator, Lineage)},
        )
        for name, some in wanted.items()
    }


def _with_lineage(
    facts: Facts,
    lineage: Callable[[], Iterable[ReportedLineage]],
    runs: Callable[[], Iterable[ReportedRun]],
    metrics: AbstractSet[LineageMetric],
) -> Facts:
    """The facts with those that the indicators of lineage need."""
    return replace(
        facts,
        lineage=tuple(lineage()) if metrics - {LineageMetric.LOSS} else (),
        runs=tuple(runs()) if LineageMetric.LOSS in metrics else (),
    )


def _needs_writes(objectives: Sequence[Objective]) -> bool:
    """Backfills are known by their writes, whatever the indicator."""
    return any(one.maintenance or not isinstance(one.indicator, Check) for one in objectives)


def _facts(
    graph: Observed,
    name: DatasetName,
    ids: frozenset[int],
    objectives: Sequence[Objective],
    since: int,
    until: int,
    writes: tuple[Write, ...],
) -> Facts:
    kinds = {type(one.indicator) for one in objectives}
    reports = read_reports(graph, ids, until, MOST_WRITES) if kinds & {Quality, Measured} else ()
    return Facts(
        writes=writes,
        reports=tuple(one for one in reports if one.time >= since),
        checks=tuple(one for one in read_checks(graph, ids, until) if one.time >= since) if Check in kinds else (),
        schemas=tuple(_schemas(graph, name, until)) if SchemaStability in kinds else (),
        since=since,
    )


def _schemas(graph: Observed, name: DatasetName, until: int) -> Iterator[SchemaSeen]:
    for row in graph.schemas([node_id(name)]):
        if row.first_time <= until:
            columns = tuple(sorted(columns_of(row).items()))
            yield SchemaSeen(time=row.first_time, columns=columns, last=row.last_time)


def _recent_writes(
    catalog: Catalog, wanted: Mapping[DatasetName, tuple[frozenset[int], int]]
) -> Mapping[DatasetName, Sequence[StoredWrite]]:
    """The writes of datasets, by their ids and from a time (µs) on, until the last completed one before it."""
    stored = _stored_writes(catalog, {id_ for ids, _ in wanted.values() for id_ in ids})
    return {
        name: [one for id_ in sorted(ids) for one in _recent(stored(id_), since)]
        for name, (ids, since) in wanted.items()
    }


def _writes(
    catalog: Catalog,
    graph: Observed,
    found: Mapping[DatasetName, Sequence[StoredWrite]],
    ids: Sequence[frozenset[int]],
    until: int,
) -> Mapping[DatasetName, tuple[Write, ...]]:
    nominal = _nominal_times(catalog, [one.run.id for some in found.values() for one in some])
    rows = _rows(graph, ids, until)
    return {
        name: tuple(
            Write(
                time=max(one.time, one.run.state_at),
                run=one.run.name,
                nominal=nominal.get(one.run.id),
                rows=counts.get(one.run.id),
            )
            for one in some
        )
        for (name, some), counts in zip(found.items(), rows, strict=True)
    }


def _stored_writes(catalog: Catalog, ids: Iterable[int]) -> Callable[[int], Iterable[StoredWrite]]:
    """Reads the writes of one dataset, the latest first: from those of all, unless they are too many."""
    together = catalog.writes_of_all(ids, Window(limit=_AT_ONCE))
    if len(together) == _AT_ONCE:
        return partial(_paged_writes, catalog)
    by_id: dict[int, list[StoredWrite]] = {}
    for one in together:
        by_id.setdefault(one.dataset_id, []).append(one)
    return lambda id_: by_id.get(id_, ())


def _paged_writes(catalog: Catalog, dataset_id: int) -> Iterator[StoredWrite]:
    for offset in range(0, MOST_WRITES, _PAGE):
        page = catalog.writes(dataset_id, Window(limit=_PAGE, offset=offset))
        yield from page
        if len(page) < _PAGE:
            return


def _recent(stored: Iterable[StoredWrite], since: int) -> Iterator[StoredWrite]:
    for one in stored:
        yield one
        if one.run.state is RunState.COMPLETE and one.time < since:
            return


def _rows(graph: Observed, wanted: Sequence[frozenset[int]], until: int) -> Sequence[Mapping[int, int | float]]:
    """The rows that runs wrote to each dataset, which may have several ids; by run."""
    together = graph.measurements({id_ for ids in wanted for id_ in ids}, until, _AT_ONCE, _ROWS)
    if len(together) == _AT_ONCE:
        return [_row_counts(graph.measurements(ids, until, MOST_WRITES, _ROWS)) for ids in wanted]
    owners: dict[int, list[int]] = {}
    for place, ids in enumerate(wanted):
        for id_ in ids:
            owners.setdefault(id_, []).append(place)
    of_each: list[list[MeasurementRow]] = [[] for _ in wanted]
    for row in together:
        for place in owners[row.dataset_id]:
            of_each[place].append(row)
    return [_row_counts(some) for some in of_each]


def _row_counts(found: Iterable[MeasurementRow]) -> Mapping[int, int | float]:
    return {
        row.run_id: value
        for row in found
        for column, metric, value in row.values
        if metric == "rowCount" and not column
    }


def _nominal_times(catalog: Catalog, run_ids: Sequence[int]) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for page in range(0, len(run_ids), _PAGE):
        for run_id, facets in catalog.run_facets(run_ids[page : page + _PAGE], _NOMINAL).items():
            for one in facets:
                if not one.role and (time := _start(one.payload)) is not None:
                    found[run_id] = time
    return found


def _start(payload: str) -> int | None:
    try:
        facet: Any = json.loads(payload) if payload else {}
        return instant(str(facet["nominalStartTime"]), 0)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
