"""Reads what is derived from candidates beside the way to the wrong node. If it is well, a candidate is less likely."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from whence.model.graph import Direction, EdgeRow, Grain, Hop
from whence.model.ids import Kind, kind_of
from whence.model.names import DatasetName
from whence.query.diagnosis.case import Candidate
from whence.query.diagnosis.flows import Link, end_of, link_of, read_flows
from whence.query.diagnosis.measured_series import observe
from whence.query.history.changes.period import Period
from whence.query.history.changes.scope import Scope
from whence.query.history.changes.transitions import TimelineGraph

MOST_OTHERS = 300
"""Datasets beside the way that one question reads: those derived from the nearest candidates."""
MOST_EDGES = 20_000
"""Edges from the candidates that one question reads, of each grain."""


@dataclass(slots=True)
class _Other:
    """A dataset beside the way: its ids, the jobs that write it, its links, and the columns that candidates feed."""

    ids: set[int] = field(default_factory=set)
    writers: set[int] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)


def read_others(
    graph: TimelineGraph, scope: Scope, keys: Mapping[DatasetName, int], period: Period
) -> tuple[Candidate, ...]:
    """The visible datasets that are one hop downstream of the candidates (`keys`), and are none themselves."""
    found = _read(graph, scope, keys, period)
    nearest = sorted(found, key=lambda name: (min(keys[one.source] for one in found[name].links), str(name)))
    chosen = {name: found[name] for name in nearest[:MOST_OTHERS]}
    observed = observe(
        graph,
        {name: sorted(one.ids) for name, one in chosen.items()},
        {name: one.writers for name, one in chosen.items()},
        period.until,
    )
    flows = read_flows(link for one in chosen.values() for link in one.links)

    def keys_of(several: Mapping[DatasetName, frozenset[DatasetName]], name: DatasetName) -> tuple[int, ...]:
        return tuple(sorted(keys[one] for one in several[name]))

    return tuple(
        Candidate(
            key=len(keys) + place,
            distance=0,
            parents=tuple(sorted({keys[link.source] for link in one.links})),
            series=observed.series[name],
            writes=observed.writes[name],
            value_parents=keys_of(flows.value_parents, name),
            row_parents=keys_of(flows.row_parents, name),
            value_columns=None if "" in one.columns else tuple(sorted(one.columns)),
        )
        for place, (name, one) in enumerate(chosen.items())
    )


def _read(
    graph: TimelineGraph, scope: Scope, keys: Mapping[DatasetName, int], period: Period
) -> Mapping[DatasetName, _Other]:
    rows = list(_edges(graph, scope, keys, period.ends[1]))
    names = graph.nodes({id_ for row in rows for id_ in (row.near_id, row.far_id)})
    found: dict[DatasetName, _Other] = {}
    for row in rows:
        source, target = end_of(names.get(row.near_id)), end_of(names.get(row.far_id))
        known = scope.names.get(row.near_dataset_id)
        if source is None or target is None or not isinstance(known, DatasetName) or row.far_dataset_id in scope.names:
            continue
        link = link_of((known, source[1]), target, row.type, row.subtype)
        if link is None:
            continue
        one = found.setdefault(link.target, _Other())
        one.ids.add(row.far_dataset_id)
        one.links.append(link)
        if kind_of(row.owner_id) is Kind.JOB:
            one.writers.add(row.owner_id)
        if link.has_values and scope.has_column(row.near_dataset_id, link.source_column):
            one.columns.add(link.target_column)
    return found


def _edges(graph: TimelineGraph, scope: Scope, keys: Mapping[DatasetName, int], at: int | None) -> Iterator[EdgeRow]:
    datasets = [id_ for id_ in scope.datasets if scope.names.get(id_) in keys]
    fields = sorted(row.id for row in graph.fields(datasets))
    for grain, probes in ((Grain.DATASET, datasets), (Grain.FIELD, fields)):
        yield from graph.edges(probes, Hop(Direction.DOWNSTREAM, grain, at), MOST_EDGES)
