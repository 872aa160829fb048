"""What runs reported of the lineage of a dataset, read from the store: for the indicators of lineage itself."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from whence.govern.contracts.evaluation.observations import Observed, ids_of
from whence.govern.slos.evaluation.facts import ReportedLineage, ReportedRun
from whence.govern.slos.objectives import DAY
from whence.model.catalog import RunEntry, Write
from whence.model.graph import SchemaRow, SetEdge
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName
from whence.query.history.schemas import columns_of, schema_at
from whence.query.ports.catalog import Catalog

MOST_RUNS = 1_000
"""Runs whose lineage is read for one dataset, and runs of each job that writes it: the latest."""
_BOUNDARY, _JOB_TYPE = "whence_boundary", "jobType"


def read_lineage(
    catalog: Catalog, graph: Observed, ids: frozenset[int], writes: Sequence[Write]
) -> Iterator[ReportedLineage]:
    """What each of the completed writes of a dataset, under all its names, reported."""
    latest = sorted(writes, key=lambda one: (one.time, one.run.id))[-MOST_RUNS:]
    asserted = graph.asserted_sets([one.run.id for one in latest])
    edges = _edges_by_set(graph, ids, {set_id for some in asserted.values() for set_id in some})
    found = {one.run.id: [edge for set_id in asserted.get(one.run.id, ()) for edge in edges[set_id]] for one in latest}
    sources = {id_: _sources(ids, some) for id_, some in found.items()}
    known = _known_since(graph, {id_ for some in sources.values() for id_ in some})
    fields = {row.id: row.name.casefold() for row in graph.fields(ids)}
    schemas = list(graph.schemas(ids))
    delays = catalog.capture_delays([one.run.id for one in latest])
    for one in latest:
        columns = _columns_at(schemas, one.time)
        targets = (edge.target_id for edge in found[one.run.id])
        covered = {fields.get(each, "") for each in targets if kind_of(each) is Kind.FIELD}
        yield ReportedLineage(
            time=max(one.time, one.run.state_at),
            run=one.run.name,
            columns=len(columns),
            covered=len(columns & covered),
            sources=len(sources[one.run.id]),
            unknown=sum(known.get(id_, one.time + 1) > one.time for id_ in sources[one.run.id]),
            delay=delays.get(one.run.id),
        )


def read_runs(catalog: Catalog, graph: Observed, writes: Iterable[Write], since: int) -> Iterator[ReportedRun]:
    """The runs since a time (µs) of the jobs that write a dataset: whether their start and their end were reported."""
    jobs = {node_id(one.run.name.job) for one in writes}
    streaming = {row.subject_id for row in graph.facets(sorted(jobs), [_JOB_TYPE]) if _is_streaming(row.payload)}
    for job_id, runs in catalog.latest_runs(sorted(jobs), MOST_RUNS).items():
        yield from (
            _reported(one, is_streaming=job_id in streaming)
            for one in runs
            if one.seen_from is not None and one.seen_from >= since
        )


def _reported(one: RunEntry, *, is_streaming: bool) -> ReportedRun:
    """A run is over when its end was reported, or when it was silent for a day; a stream when it began."""
    last = one.seen_to or 0
    time = one.ended_at if one.ended_at is not None else last if is_streaming else last + DAY
    return ReportedRun(
        time=time,
        run=one.name,
        has_start=one.started_at is not None,
        has_end=one.ended_at is not None or is_streaming,
    )


def _edges_by_set(graph: Observed, ids: AbstractSet[int], set_ids: AbstractSet[int]) -> Mapping[int, list[SetEdge]]:
    """The edges into a dataset by set."""
    found: dict[int, list[SetEdge]] = {one: [] for one in set_ids}
    for edge in graph.content(set_ids):
        if edge.target_dataset_id in ids:
            found[edge.set_id].append(edge)
    return found


def _sources(ids: AbstractSet[int], edges: Iterable[SetEdge]) -> frozenset[int]:
    return frozenset(one.source_dataset_id for one in edges) - ids - {0}


def _columns_at(schemas: Sequence[SchemaRow], at: int) -> frozenset[str]:
    """The columns that were reported last, in lower case, without those that contain others."""
    names = columns_of(schema_at(schemas, at))
    return frozenset(one.casefold() for one in names if not any(other.startswith(f"{one}.") for other in names))


def _known_since(graph: Observed, source_ids: AbstractSet[int]) -> Mapping[int, int]:
    """From when on (µs) it is known where datasets come from: a run wrote it, or somebody asserted that it is an
    origin. All names of a dataset count.
    """
    names = {id_: name for id_, name in graph.nodes(source_ids).items() if isinstance(name, DatasetName)}
    ids = ids_of(graph, list(names.values()))
    every = sorted({each for some in ids.values() for each in some})
    times = [(one.dataset_id, one.time) for one in graph.next_writers([(each, -1) for each in every])]
    times += [(row.subject_id, row.time) for row in graph.facets(every, [_BOUNDARY]) if _is_origin(row.payload)]
    first: dict[int, int] = {}
    for each, time in times:
        first[each] = min(time, first.get(each, time))
    found = {id_: [first[each] for each in ids[name] if each in first] for id_, name in names.items()}
    return {id_: min(some) for id_, some in found.items() if some}


def _is_origin(payload: str) -> bool:
    return _members(payload).get("origin") is True


def _is_streaming(payload: str) -> bool:
    return str(_members(payload).get("processingType", "")).upper() == "STREAMING"


def _members(payload: str) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(payload) if payload else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
