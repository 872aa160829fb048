"""Column lineage around the columns of a dataset or job, or around one column: upstream, and optionally downstream."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whence.model.graph import Direction, Grain
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers.values import BOTH, AnswerEdge, Question, dataset_of
from whence.query.lookup.requested_names import RequestedNames, known_field, requested_names, under_requested_name
from whence.query.ports.catalog import Catalog
from whence.query.ports.graph import Past
from whence.query.questions.influences import columns_of, influence_of
from whence.query.traversal.edges import Edges, assemble_edges
from whence.query.traversal.traversal import TraversalSpec, traverse

Ends = tuple[Node, Node, Node]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Fields sorted by name, and the edges between them. `complete`: nothing was left out."""

    fields: tuple[FieldName, ...]
    edges: tuple[AnswerEdge, ...]
    complete: bool


@dataclass(slots=True)
class _ColumnEdges:
    """The edges of one traversal as edges between columns: by near end, and the influences on whole datasets."""

    way: Direction
    at: dict[Node, list[AnswerEdge]] = field(default_factory=dict)
    influences: dict[Node, list[AnswerEdge]] = field(default_factory=dict)
    """By near end: upstream the dataset, downstream the column."""
    columns: Mapping[DatasetName, Sequence[str]] = field(default_factory=dict)
    """The columns of the influenced datasets, where the traversal needs all of them."""
    has_unknown: bool = False
    """Whether an influence was found on a dataset without known columns."""

    def near(self, edge: AnswerEdge) -> Node:
        """The end of an edge from which the traversal came."""
        return edge.target if self.way is Direction.UPSTREAM else edge.source

    def far(self, edge: AnswerEdge) -> Node:
        """The other end of an edge."""
        return edge.source if self.way is Direction.UPSTREAM else edge.target

    def beyond(self, column: Node) -> Iterator[AnswerEdge]:
        """The edges that continue from a column."""
        yield from self.at.get(column, ())
        if self.way is Direction.UPSTREAM:
            for one in self.influences.get(dataset_of(column) or column, ()):
                yield replace(one, target=column)
            return
        for one in self.influences.get(column, ()):
            yield from self._copies(one)

    def of(self, dataset: DatasetName) -> Iterator[Node]:
        """The columns of a dataset at which there may be an edge."""
        yield from (end for end in (*self.at, *self.influences) if end != dataset and dataset_of(end) == dataset)
        if dataset in self.influences:
            yield from self._columns(dataset)

    def _copies(self, influence: AnswerEdge) -> Iterator[AnswerEdge]:
        assert isinstance(influence.target, DatasetName)
        for column in self._columns(influence.target):
            yield replace(influence, target=column)

    def _columns(self, dataset: DatasetName) -> Iterator[FieldName]:
        names = self.columns.get(dataset, ())
        self.has_unknown = self.has_unknown or not names
        yield from (FieldName(dataset, name) for name in names)


def columns(catalog: Catalog, graph: Past, roots: Sequence[Node], question: Question, *, downstream: bool) -> Columns:
    """The columns upstream of those of the roots (datasets or fields), with `downstream` also those downstream. All
    have the requested names.

    Influence on a whole dataset is influence on each of its columns. It is left out if no column is known. Edges beyond
    the question's budget are left out, too; then the answer is incomplete.
    """
    ways = (Direction.UPSTREAM, *((Direction.DOWNSTREAM,) if downstream else ()))
    edges, complete = dict[Ends, AnswerEdge](), True
    names = requested_names(graph, roots)
    for root in roots:
        for way in ways:
            found, is_whole = _columns(catalog, graph, root, question, way, question.max_edges - len(edges))
            complete = complete and is_whole
            for one in found:
                _add(edges, _under_requested_names(one, names))
    between = {end for source, target, _ in edges for end in (source, target) if isinstance(end, FieldName)}
    return Columns(
        fields=tuple(sorted(between | {one for one in roots if isinstance(one, FieldName)})),
        edges=tuple(edges[ends] for ends in sorted(edges, key=_Texts().of)),
        complete=complete,
    )


def _columns(
    catalog: Catalog, graph: Past, root: Node, question: Question, way: Direction, limit: int
) -> tuple[Sequence[AnswerEdge], bool]:
    known = known_field(graph, root) if isinstance(root, FieldName) else None
    walk = traverse(
        graph, known or root, TraversalSpec(direction=way, grain=Grain.FIELD, types=BOTH, question=question)
    )
    walk.read(walk.depth)
    assembled = assemble_edges(walk, walk.links, walk.depth)
    named = assembled.names[walk.root]
    edges = _column_edges(assembled, way)
    wanted = _influenced(edges, named)
    if wanted:
        ids = {of: walk.identity.members(node_id(of)) for of in wanted}
        edges.columns = columns_of(catalog, graph, ids, question.at)
    found = _connected(edges, named, limit)
    return found[:limit], walk.stopped_by is None and len(found) <= limit and not edges.has_unknown


def _column_edges(assembled: Edges, way: Direction) -> _ColumnEdges:
    found = _ColumnEdges(way)
    for edge in assembled.edges:
        if isinstance(edge.source, FieldName) and isinstance(edge.target, FieldName):
            found.at.setdefault(found.near(edge), []).append(edge)
        elif influence := influence_of(edge):
            found.influences.setdefault(found.near(influence), []).append(influence)
    return found


def _influenced(edges: _ColumnEdges, root: Node) -> set[DatasetName]:
    """The datasets whose columns must all be known: upstream, an influenced column is known by itself."""
    if edges.way is Direction.UPSTREAM:
        return {root} if isinstance(root, DatasetName) and root in edges.influences else set()
    targets = {one.target for several in edges.influences.values() for one in several}
    return {of for of in targets if isinstance(of, DatasetName)}


def _connected(edges: _ColumnEdges, root: Node, limit: int) -> list[AnswerEdge]:
    """The edges that are connected with the root through columns alone; if there are more than `limit`, `limit` + 1."""
    seen: set[Node] = set(edges.of(root)) if isinstance(root, DatasetName) else {root}
    frontier, found = list[Node](sorted(seen, key=str)), list[AnswerEdge]()
    while frontier:
        for edge in edges.beyond(frontier.pop()):
            found.append(edge)
            if len(found) > limit:
                return found
            far = edges.far(edge)
            if far not in seen:
                seen.add(far)
                frontier.append(far)
    return found


def _under_requested_names(edge: AnswerEdge, names: RequestedNames) -> AnswerEdge:
    source, target = under_requested_name(edge.source, names), under_requested_name(edge.target, names)
    return edge if (source, target) == (edge.source, edge.target) else replace(edge, source=source, target=target)


def _add(edges: dict[Ends, AnswerEdge], edge: AnswerEdge) -> None:
    """Add an edge, or its transformations to those of the same edge (value and influence)."""
    ends = (edge.source, edge.target, edge.owner)
    known = edges.get(ends)
    if known is None:
        edges[ends] = edge
    elif known.transformations != edge.transformations:
        every = tuple(sorted({*known.transformations, *edge.transformations}))
        edges[ends] = replace(known, transformations=every)


class _Texts(dict[Node, str]):
    """Nodes as texts, each formatted once."""

    def __missing__(self, node: Node) -> str:
        self[node] = written = str(node)
        return written

    def of(self, ends: Ends) -> tuple[str, ...]:
        """The texts of an edge's ends."""
        return tuple(self[end] for end in ends)
