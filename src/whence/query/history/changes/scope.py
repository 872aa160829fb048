"""The nodes whose changes may reach a node: those upstream of it when a period began, or when it ended."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from whence.model.graph import Direction, Grain, Hop
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.query.answers.completeness import combine_completeness
from whence.query.answers.values import BOTH, Completeness, Question, dataset_of
from whence.query.history.changes.values import NotKnown, Unknown
from whence.query.ports.graph import Graph
from whence.query.questions.lineage import grain_of, walked
from whence.query.traversal.column_gaps import read_gaps
from whence.query.traversal.edges import names_of
from whence.query.traversal.result import completeness
from whence.query.traversal.traversal import Traversal

MOST_NAMED = 20
"""Nodes that one statement about what is not known names: the nearest."""
MOST_SOURCES = 10_000
"""Edges to datasets of columns among which jobs without inputs are looked for."""
CHECKED_FOR_GAPS = 100
"""Nearest nodes that are checked for gaps in column lineage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The nodes to search, all visible. Ids are those of all names of a node.

    `columns`: of each dataset, the columns on the way to the requested one, or None for all. `names`: the name of each
    dataset and job by which it is in lineage, for its ids. `edge_ends`: the datasets and fields at which an edge of the
    way may end.
    """

    root: Node
    grain: Grain
    completeness: Completeness
    columns: Mapping[int, frozenset[str] | None]
    names: Mapping[int, DatasetName | JobName]
    distances: Mapping[int, int]
    edge_ends: frozenset[int]
    not_known: tuple[NotKnown, ...]

    @property
    def datasets(self) -> Sequence[int]:
        """The ids of all names of the datasets."""
        return sorted(self.columns)

    @property
    def jobs(self) -> Sequence[int]:
        """The ids of the jobs."""
        return sorted(id_ for id_ in self.names if kind_of(id_) is Kind.JOB)

    def has_column(self, dataset: int, column: str) -> bool:
        """Whether a column of a dataset is on the way; an empty one is the whole dataset."""
        chosen = self.columns.get(dataset, frozenset())
        return chosen is None or not column or column in chosen

    def distance(self, node: Node) -> int:
        """The hops from the requested node to a node of the scope; of a column, to its dataset."""
        return self.distances[node_id(dataset_of(node) or node)]

    def count(self, kind: Kind) -> int:
        """The number of datasets, or of jobs, each under one name."""
        return len({name for id_, name in self.names.items() if kind_of(id_) is kind})


@dataclass(slots=True)
class _Found:
    """Nodes of the traversals that were merged so far."""

    columns: dict[int, frozenset[str] | None] = field(default_factory=dict)
    names: dict[int, DatasetName | JobName] = field(default_factory=dict)
    distances: dict[int, int] = field(default_factory=dict)
    edge_ends: set[int] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)
    gaps: dict[Node, int] = field(default_factory=dict)

    def add(self, walk: Traversal) -> None:
        """Add the nodes of a traversal."""
        names = names_of(walk, walk.depth)
        hidden = walk.graph.hidden(walk.depth)
        self.hidden |= hidden
        for id_, depth in walk.depth.items():
            if id_ not in hidden and (name := names.get(id_)) is not None:
                self._add_node(walk, id_, name, depth)

    def _add_node(self, walk: Traversal, id_: int, name: Node, depth: int) -> None:
        match name:
            case JobName():
                self._describe([id_], name, depth)
            case FieldName(dataset, text):
                self.edge_ends |= set(walk.identity.members(id_))
                self._add_columns(walk, walk.identity.dataset_of[id_], dataset, frozenset((text,)), depth)
            case DatasetName():
                self._add_columns(walk, id_, name, None, depth)

    def _add_columns(
        self, walk: Traversal, id_: int, name: DatasetName, columns: frozenset[str] | None, depth: int
    ) -> None:
        members = walk.identity.members(id_)
        self._describe(members, name, depth)
        self.edge_ends |= set(members)
        for member in members:
            known = self.columns.get(member, frozenset())
            self.columns[member] = None if known is None or columns is None else known | columns

    def _describe(self, ids: Iterable[int], name: DatasetName | JobName, depth: int) -> None:
        for id_ in ids:
            self.names[id_] = name
            self.distances[id_] = min(self.distances.get(id_, depth), depth)

    def add_source_jobs(self, walk: Traversal) -> None:
        """Add the jobs that write the datasets of columns and read nothing: no edge between columns is theirs."""
        hop = Hop(Direction.UPSTREAM, Grain.DATASET, walk.spec.question.at)
        rows = walk.graph.edges(sorted(self.columns), hop, MOST_SOURCES)
        sources = {row.far_id: self.distances[row.near_id] + 1 for row in rows if kind_of(row.far_id) is Kind.JOB}
        hidden = walk.graph.hidden(sources)
        self.hidden |= hidden
        for id_, name in walk.graph.nodes(sorted(sources.keys() - hidden)).items():
            if isinstance(name, JobName):
                self._describe([id_], name, sources[id_])

    def add_gaps(self, walk: Traversal) -> None:
        """Add the nodes at which column lineage ends, of the nearest ones."""
        nearest = sorted(walk.depth, key=lambda id_: (walk.depth[id_], id_))[:CHECKED_FOR_GAPS]
        walk.learn(nearest)
        gaps = {key.at for key in read_gaps(walk, {id_ for id_ in nearest if kind_of(id_) is not Kind.JOB})}
        for id_, name in names_of(walk, gaps - self.hidden).items():
            self.gaps[name] = min(self.gaps.get(name, walk.depth[id_]), walk.depth[id_])


def scope_of(graph: Graph, root: Node, question: Question, times: Sequence[int | None]) -> Scope:
    """The nodes upstream of `root` at any of these times (µs; None: now), nearest distances first."""
    found, several = _Found(), list[Completeness]()
    for at in times:
        at_time = replace(question, at=at, types=question.types or BOTH)
        walk, _ = walked(graph, root, at_time, Direction.UPSTREAM, at_time.types or BOTH)
        if walk.spec.grain is Grain.FIELD:
            found.add_gaps(walk)
        walk.add_jobs()
        found.add(walk)
        if walk.spec.grain is Grain.FIELD:
            found.add_source_jobs(walk)
        several.append(completeness(walk, has_gaps=bool(found.gaps)))
    return Scope(
        root=root,
        grain=grain_of(root),
        completeness=replace(combine_completeness(several), hidden_nodes=len(found.hidden)),
        columns=found.columns,
        names=found.names,
        distances=found.distances,
        edge_ends=frozenset(found.edge_ends),
        not_known=tuple(_not_known(found)),
    )


def _not_known(found: _Found) -> Iterable[NotKnown]:
    if found.hidden:
        yield NotKnown(reason=Unknown.HIDDEN, total=len(found.hidden))
    if found.gaps:
        yield unknown_at(Unknown.COLUMNS, found.gaps)


def unknown_at(reason: Unknown, distances: Mapping[Node, int]) -> NotKnown:
    """Changes that are not known at some nodes, of which each has its distance."""
    nodes = sorted(distances, key=lambda name: (distances[name], str(name)))
    return NotKnown(reason=reason, nodes=tuple(nodes[:MOST_NAMED]), total=len(nodes))


def unknown_nodes(scope: Scope, reason: Unknown, ids: AbstractSet[int]) -> NotKnown:
    """Changes that are not known at some datasets or jobs of a scope."""
    return unknown_at(reason, {scope.names[id_]: scope.distances[id_] for id_ in ids})
