"""Reading what policies judge: all datasets with their columns, and how sensitive data passes between them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from whence.govern.policies.assembly import Categories, KnownGraph, make_estate
from whence.govern.policies.estate import Estate
from whence.model.catalog import Entry, EntryFilter, Window, entry_sort_key
from whence.model.graph import Direction, EdgeRow, GapRow, Grain, Hop
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.model.sensitivity import Grade
from whence.model.traits import Traits
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Graph
from whence.query.sensitivity.disclosures import Way, way_between
from whence.query.traversal.edges import transformations_of
from whence.query.traversal.representatives import Representatives
from whence.query.traversal.traits import TraitReader

MOST_EDGES = 2_000_000
"""Edges that are read of a graph; more are a budget that cuts the answer."""
_PAGE = 5_000

_Row = TypeVar("_Row", EdgeRow, GapRow)


def read_whole_graph(catalog: Catalog, graph: Graph, at: int | None = None) -> KnownGraph:
    """The graph of all datasets that a catalog lists, with everything upstream of them."""
    return _read(graph, (one.id for one in _datasets(catalog)), at)


def read_names(graph: Graph, datasets: Iterable[DatasetName]) -> Mapping[DatasetName, DatasetName]:
    """The name that the graph gives to each dataset of which it knows another one."""
    ids = {node_id(one): one for one in datasets}
    identity = Representatives(graph)
    identity.learn([(id_, id_) for id_ in ids])
    canonical = {one: identity.names.get(identity.canonical(id_)) for id_, one in ids.items()}
    return {one: name for one, name in canonical.items() if isinstance(name, DatasetName)}


def _datasets(catalog: Catalog) -> Iterator[Entry]:
    after = None
    while page := catalog.listed(Kind.DATASET, EntryFilter(), Window(limit=_PAGE, after=after)):
        yield from page
        after = entry_sort_key(page[-1])


def read_estate(graph: Graph, datasets: Iterable[int], categories: Categories, at: int | None = None) -> Estate:
    """The estate of some datasets and all that is upstream of them, at a time (µs), None: now; tags are those of now.

    `categories`: the tags of each category beside those that are known everywhere.
    """
    return make_estate(_read(graph, datasets, at), categories)


def _read(graph: Graph, datasets: Iterable[int], at: int | None) -> KnownGraph:
    found = _Reading(graph, at)
    found.read(sorted(set(datasets)))
    return found.known()


@dataclass(slots=True)
class _Reading:
    """All edges into nodes that lead to the wanted ones. Ids are those of the graph; `known` makes nodes of them."""

    graph: Graph
    at: int | None
    identity: Representatives = field(init=False)
    fields: dict[int, int] = field(default_factory=dict)
    """Each column with its dataset."""
    datasets: set[int] = field(default_factory=set)
    rows: list[EdgeRow] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """A node, and a dataset of which it may show anything."""
    inputs: set[tuple[int, int]] = field(default_factory=set)
    is_complete: bool = True

    def __post_init__(self) -> None:
        self.identity = Representatives(self.graph)

    def read(self, datasets: Sequence[int]) -> None:
        """Read the edges at datasets and their columns, then at those that are upstream, until there are no more."""
        frontier = list(datasets)
        while frontier and self.is_complete:
            self.datasets |= set(frontier)
            inner = self.graph.fields(frontier)
            self.fields |= {row.id: row.dataset_id for row in inner}
            self._read_edges(frontier, [row.id for row in inner])
            ends = {row.far_dataset_id for row in self.rows} | {other for _, other in self.gaps}
            frontier = sorted((ends | {source for source, _ in self.inputs}) - self.datasets - {0})

    def _read_edges(self, datasets: Sequence[int], columns: Sequence[int]) -> None:
        hop, coarse = (Hop(Direction.UPSTREAM, grain, self.at) for grain in (Grain.FIELD, Grain.DATASET))
        ids = [*datasets, *columns]
        self.rows += self._within_budget(self.graph.edges(ids, hop, MOST_EDGES + 1))
        whole = self._within_budget(self.graph.edges(datasets, coarse, MOST_EDGES + 1))
        self.inputs |= {(row.far_id, row.near_id) for row in whole if kind_of(row.far_id) is Kind.DATASET}
        self.fields |= {row.far_id: row.far_dataset_id for row in self.rows if kind_of(row.far_id) is Kind.FIELD}
        gaps = [*self.graph.gaps(datasets, hop, MOST_EDGES + 1), *self.graph.unreported(ids, hop, MOST_EDGES + 1)]
        self.gaps += [(row.near_id, row.other_id) for row in self._within_budget(gaps) if row.other_id]

    def _within_budget(self, rows: Sequence[_Row]) -> Sequence[_Row]:
        if len(self.rows) + len(rows) > MOST_EDGES:
            self.is_complete = False
            return rows[: max(0, MOST_EDGES - len(self.rows))]
        return rows

    def known(self) -> KnownGraph:
        """What was read, by name."""
        names = self._names()
        return KnownGraph(
            ways=(*self._ways(names), *self._assumed_ways(names)),
            traits=self._traits(names),
            columns=frozenset(name for name in names.values() if isinstance(name, FieldName)),
            inputs=frozenset((names[a], names[b]) for a, b in self.inputs if a in names and b in names),
            hidden=frozenset(names[id_] for id_ in self.graph.hidden(names)),
            complete=self.is_complete,
        )

    def _names(self) -> Mapping[int, Node]:
        """The representative's name of each id that was read."""
        ends = [*((id_, id_) for id_ in self.datasets), *self.fields.items()]
        self.identity.learn(ends)
        canonical = {id_: self.identity.canonical(id_) for id_, _ in ends}
        wanted = set(canonical.values())
        made = {id_: name for id_, name in self.identity.names.items() if id_ in wanted}
        named = {**self.graph.nodes(sorted(wanted - made.keys())), **made}
        return {id_: named[one] for id_, one in canonical.items() if one in named}

    def _ways(self, names: Mapping[int, Node]) -> Iterator[Way]:
        """How much passes along each edge."""
        rows: dict[tuple[Node, Node], list[EdgeRow]] = {}
        for row in self.rows:
            if row.far_id in names and row.near_id in names:
                rows.setdefault((names[row.far_id], names[row.near_id]), []).append(row)
        return (way_between(*ends, transformations_of(several)) for ends, several in rows.items())

    def _assumed_ways(self, names: Mapping[int, Node]) -> Iterator[Way]:
        """What jobs may pass on that do not report which columns they read."""
        return (
            Way(names[other], names[near], Grade.FULL, Grade.NONE)
            for near, other in self.gaps
            if {near, other} <= names.keys()
        )

    def _traits(self, names: Mapping[int, Node]) -> Mapping[DatasetName, Traits]:
        """What is asserted of each dataset, under all its names."""
        reader = TraitReader(self.identity)
        ids = {self.identity.canonical(id_) for id_ in self.datasets if id_ in names}
        reader.learn_subjects(ids)
        found = {id_: names[id_] for id_ in self.datasets if id_ in names}
        return {
            name: reader.of_subject(self.identity.canonical(id_))
            for id_, name in found.items()
            if isinstance(name, DatasetName)
        }
