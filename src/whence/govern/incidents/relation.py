"""Which datasets with findings are upstream of which: one read of the graph for all of them together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whence.govern.incidents.incident import UpstreamRelation
from whence.model.graph import Direction, Grain, Hop
from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.ports.graph import Graph
from whence.query.traversal.representatives import Representatives

MOST_EDGES = 200_000
"""Edges that are read; more are a budget that cuts the relation."""


def read_relation(
    graph: Graph, datasets: Iterable[DatasetName], at: int | None = None, limit: int = MOST_EDGES
) -> UpstreamRelation:
    """The relation of some datasets, by the edges at a time (µs), or now. Columns count for their datasets."""
    reading = _Reading(graph, at, limit)
    wrong = {node_id(one): one for one in datasets}
    canonical = reading.canonical_of(wrong)
    starts = sorted(set(canonical.values()))
    reading.read(starts)
    names = _names(graph, starts, {canonical[id_]: name for id_, name in wrong.items()})
    downstream = _find_downstream(reading.parents, starts)
    upstream: dict[DatasetName, set[DatasetName]] = {}
    for id_ in starts:
        for index in _bits(downstream.get(id_, 0)):
            upstream.setdefault(names[starts[index]], set()).add(names[id_])
    cut = {starts[index] for id_ in reading.unread for index in _bits(downstream.get(id_, 0))}
    return UpstreamRelation(
        upstream={name: frozenset(some) for name, some in upstream.items()},
        representatives={wrong[id_]: names[one] for id_, one in canonical.items() if wrong[id_] != names[one]},
        unfinished=frozenset(names[id_] for id_ in cut | (reading.unread & set(starts))),
    )


@dataclass(slots=True)
class _Reading:
    """The edges between datasets upstream of some. Ids are canonical."""

    graph: Graph
    at: int | None
    limit: int
    parents: dict[int, set[int]] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)
    """Datasets of which nothing upstream was read, because of the limit."""
    _identity: Representatives = field(init=False)
    _count: int = 0

    def __post_init__(self) -> None:
        self._identity = Representatives(self.graph)

    def canonical_of(self, ids: Iterable[int]) -> Mapping[int, int]:
        """The representative of each dataset."""
        several = list(ids)
        self._identity.learn([(id_, id_) for id_ in several])
        return {id_: self._identity.canonical(id_) for id_ in several}

    def read(self, starts: Sequence[int]) -> None:
        """Read what is upstream of datasets, each once, until there is no more, or too much."""
        frontier, seen = list(starts), set(starts)
        while frontier:
            ends = self._read_edges(frontier)
            if ends is None:
                self.unread |= set(frontier)
                return
            canonical = self.canonical_of({end for pair in ends for end in pair})
            for near, far in ends:
                self.parents.setdefault(canonical[near], set()).add(canonical[far])
            frontier = sorted({canonical[far] for _, far in ends} - seen)
            seen |= set(frontier)

    def _read_edges(self, canonical: Iterable[int]) -> set[tuple[int, int]] | None:
        """The datasets of the edges at datasets, under all their names, and at their columns; None if the limit is hit.

        Edges from a job have no dataset at the far end.
        """
        datasets = sorted({one for id_ in canonical for one in self._identity.members(id_)})
        columns = [row.id for row in self.graph.fields(datasets)]
        found: set[tuple[int, int]] = set()
        for ids, grain in ((datasets, Grain.DATASET), ([*datasets, *columns], Grain.FIELD)):
            rows = self.graph.edges(ids, Hop(Direction.UPSTREAM, grain, self.at), self.limit - self._count + 1)
            self._count += len(rows)
            if self._count > self.limit:
                return None
            found |= {(row.near_dataset_id, row.far_dataset_id) for row in rows if row.far_dataset_id}
        return found


def _names(graph: Graph, ids: Sequence[int], known: Mapping[int, DatasetName]) -> Mapping[int, DatasetName]:
    """The names of representatives; of one that no event mentions, the name by which it is known."""
    found = {id_: name for id_, name in graph.nodes(ids).items() if isinstance(name, DatasetName)}
    return {**known, **found}


def _find_downstream(parents: Mapping[int, set[int]], starts: Sequence[int]) -> Mapping[int, int]:
    """For each node, which of some nodes are downstream of it, as the bits of a number."""
    found = {id_: 1 << index for index, id_ in enumerate(starts)}
    changed = set(starts)
    while changed:
        near, changed = changed, set()
        for id_ in near:
            for parent in parents.get(id_, ()):
                wider = found.get(parent, 0) | found[id_]
                if wider != found.get(parent):
                    found[parent] = wider
                    changed.add(parent)
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
