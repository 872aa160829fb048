"""The facts of datasets that their objectives need, read from the store. Reports and checks are read as for
contracts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from whence.govern.contracts.evaluation.observations import Observed, ids_of, read_checks, read_reports
from whence.govern.slos.evaluation.facts import Facts, SchemaSeen, Write
from whence.govern.slos.evaluation.judge import history_since
from whence.govern.slos.objectives import Check, Measured, Objective, Quality, SchemaStability
from whence.model.catalog import Window
from whence.model.catalog import Write as StoredWrite
from whence.model.events import RunState
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.answers.instants import instant
from whence.query.history.schemas import columns_of
from whence.query.ports.catalog import Catalog

MOST_WRITES = 20_000
"""Writes, and measurements, that are read for one dataset: the latest."""
_PAGE = 1_000
_ROWS = "outputStatistics"


def observe_datasets(
    catalog: Catalog, graph: Observed, objectives: Sequence[Objective], since: int, until: int
) -> Mapping[DatasetName, Facts]:
    """The facts by dataset that the objectives need for any time from an instant (µs) until another."""
    wanted: dict[DatasetName, list[Objective]] = {}
    for one in objectives:
        wanted.setdefault(one.dataset, []).append(one)
    ids = ids_of(graph, list(wanted))
    return {
        name: _facts(catalog, graph, name, ids[name], some, min(history_since(one, since) for one in some), until)
        for name, some in wanted.items()
    }


def _facts(
    catalog: Catalog,
    graph: Observed,
    name: DatasetName,
    ids: frozenset[int],
    objectives: Sequence[Objective],
    since: int,
    until: int,
) -> Facts:
    kinds = {type(one.indicator) for one in objectives}
    reports = read_reports(graph, ids, until, MOST_WRITES) if kinds & {Quality, Measured} else ()
    # Backfills are known by their writes, whatever the indicator.
    needs_writes = kinds - {SchemaStability, Check} or any(one.maintenance for one in objectives)
    return Facts(
        writes=tuple(_writes(catalog, graph, ids, since, until)) if needs_writes else (),
        reports=tuple(one for one in reports if one.time >= since),
        checks=tuple(one for one in read_checks(graph, ids, until) if one.time >= since) if Check in kinds else (),
        schemas=tuple(_schemas(graph, name, until)) if SchemaStability in kinds else (),
        since=since,
    )


def _schemas(graph: Observed, name: DatasetName, until: int) -> Iterator[SchemaSeen]:
    for row in graph.schemas([node_id(name)]):
        if row.first_time <= until:
            yield SchemaSeen(time=row.first_time, columns=tuple(sorted(columns_of(row).items())))


def _writes(catalog: Catalog, graph: Observed, ids: frozenset[int], since: int, until: int) -> Iterator[Write]:
    """The completed writes, and the last one before them."""
    found = [one for id_ in sorted(ids) for one in _completed(catalog, id_, since)]
    rows = _rows(graph, ids, until)
    for page in range(0, len(found), _PAGE):
        part = found[page : page + _PAGE]
        nominal = _nominal_times(catalog, [one.run.id for one in part])
        for one in part:
            yield Write(
                time=max(one.time, one.run.state_at),
                run=one.run.name,
                nominal=nominal.get(one.run.id),
                rows=rows.get(one.run.id),
            )


def _completed(catalog: Catalog, dataset_id: int, since: int) -> Iterator[StoredWrite]:
    for offset in range(0, MOST_WRITES, _PAGE):
        page = catalog.writes(dataset_id, Window(limit=_PAGE, offset=offset))
        for one in page:
            if one.run.state is RunState.COMPLETE:
                yield one
                if one.time < since:
                    return
        if len(page) < _PAGE:
            return


def _rows(graph: Observed, ids: Iterable[int], until: int) -> Mapping[int, int | float]:
    """The rows that runs wrote, by run."""
    found = graph.measurements(ids, until, MOST_WRITES, _ROWS)
    return {
        row.run_id: value
        for row in found
        for column, metric, value in row.values
        if metric == "rowCount" and not column
    }


def _nominal_times(catalog: Catalog, run_ids: Sequence[int]) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for run_id, facets in catalog.run_facets(run_ids).items():
        for one in facets:
            if not one.role and one.key == "nominalTime" and (time := _start(one.payload)) is not None:
                found[run_id] = time
    return found


def _start(payload: str) -> int | None:
    try:
        facet: Any = json.loads(payload) if payload else {}
        return instant(str(facet["nominalStartTime"]), 0)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
