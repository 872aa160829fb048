"""Finding what changes affect: a search from each changed column over production's graph and the edges of the head.

The surest way to a node counts (by value before by influence before assumed), and of those the shortest.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from whence.govern.gate.impact import (
    UNKNOWN_DATASET,
    Affected,
    Assessed,
    Assessment,
    Impact,
    Reach,
    Reader,
    is_hidden,
    subject_of,
)
from whence.govern.gate.production import GraphEdge, GraphGap, Production, Subgraph
from whence.govern.gate.project import Project
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName, FieldName, JobName, Node

MOST_QUESTIONS = 1_000
"""Asked of production for one head."""

_REACHES = {"DIRECT": Reach.VALUE, "INDIRECT": Reach.INFLUENCE}
State = tuple[Node, Reach]
"""A node, and how surely a way affects it."""
_ASSUMED = "ASSUMED"
"""The type of an edge that a job without column lineage may have."""


def assess(changes: Sequence[ColumnChange], production: Production, project: Project) -> Assessment:
    """What each change affects, and what is asserted of all that is affected."""
    graph = UnionGraph(production, project)
    assessed = tuple(Assessed(change=one, impact=_impact(one, graph)) for one in changes)
    subjects: list[DatasetName | JobName] = [one.change.dataset for one in assessed]
    subjects += [one for of in assessed for one in of.impact.subjects if not is_hidden(one)]
    facts = production.facts(tuple(dict.fromkeys(subjects)))
    return Assessment(changes=assessed, facts=facts, names=graph.names, graph_version=graph.version)


@dataclass(slots=True)
class UnionGraph:
    """Production's edges without those that the head's code no longer has, and the head's. Production is read when a
    search gets to a node that is not read yet.
    """

    production: Production
    project: Project
    version: str = ""
    _edges: dict[DatasetName | JobName, dict[GraphEdge, None]] = field(default_factory=lambda: defaultdict(dict))
    _is_known: dict[Node, bool] = field(default_factory=dict)
    """The nodes that were read, and whether production has them."""
    _stopped_by: dict[Node, str] = field(default_factory=dict)
    """The nodes beyond which there may be more than was read of production."""
    _canonical: dict[Node, DatasetName] = field(default_factory=dict)
    _others: dict[Node, set[DatasetName]] = field(default_factory=lambda: defaultdict(set))
    """Datasets by another of their names, and the others by that one."""
    _explained: set[tuple[Node, Node]] = field(default_factory=set)
    """The datasets of which production tells which columns of one make those of the other."""
    _presumed: set[GraphEdge] = field(default_factory=set)
    """The edges of code at base and head whose columns are not known, as of a `select *` from another file's table."""
    _questions: int = 0

    def __post_init__(self) -> None:
        kept = {(one.source, one.target) for one in self.project.base}
        for edge in self.project.head:
            self._add(edge)
            if _is_whole(edge) and not self.project.explains(edge):
                self._add(assumed := replace(edge, type=_ASSUMED))
                self._presumed |= {assumed} if (edge.source, edge.target) in kept else set()

    def edges_at(self, node: Node) -> Iterator[GraphEdge]:
        """The edges that begin at a node, at its whole dataset, or at a column of it, by any name of the dataset.

        Of those between whole datasets, a column has what a job without column lineage may do, and nothing else. It has
        those of code whose columns are not known only if production tells nothing of them.
        """
        subject = subject_of(node)
        for name in (subject, *sorted(self._others.get(subject, ()))):
            for edge in tuple(self._edges.get(name, ())):
                if isinstance(node, FieldName) and _is_whole(edge) and not self._may_concern_columns(edge):
                    continue
                if self.canonical(edge.source) == node or DatasetName in (type(node), type(edge.source)):
                    yield edge

    def _may_concern_columns(self, edge: GraphEdge) -> bool:
        """Whether an edge between whole datasets may lead from any column to any other."""
        pair = self.canonical(edge.source), self.canonical(edge.target)
        return edge.type == _ASSUMED and not (edge in self._presumed and pair in self._explained)

    @property
    def names(self) -> Mapping[Node, DatasetName]:
        """The names that production gives datasets, by their other names, as far as it was read."""
        return self._canonical

    def canonical(self, node: Node) -> Node:
        """The node by the name that production gives its dataset."""
        name = self._canonical.get(subject_of(node))
        if name is None:
            return node
        return FieldName(name, node.field) if isinstance(node, FieldName) else name

    def ask(self, node: Node) -> bool:
        """Learn what is downstream of a node in production. Whether it is known there."""
        if node not in self._is_known:
            self._learn(node)
        return self._is_known[node]

    def last_seen(self, edge: GraphEdge) -> int:
        """When an edge's owner last said so (µs). Of a job that does not report columns, production tells when it last
        read the dataset.
        """
        if edge.type != _ASSUMED:
            return edge.last_seen
        source = subject_of(edge.source)
        self.ask(source)
        same = (one for one in self._edges[source] if (one.owner, _subjects(one)) == (edge.owner, _subjects(edge)))
        return max(one.last_seen for one in same)

    def incomplete(self, nodes: Sequence[Node]) -> str:
        """Why there may be more than was found, of a search that came to these nodes; empty: that is all."""
        budget = next((self._stopped_by[one] for one in nodes if one in self._stopped_by), "")
        return f"a budget of {budget} stopped the search" if budget else ""

    def _learn(self, node: Node) -> None:
        if self._questions >= MOST_QUESTIONS:
            self._is_known[node], self._stopped_by[node] = True, "questions"
            return
        self._questions += 1
        found = self.production.downstream(node)
        self._is_known[node] = found is not None
        if found is not None:
            self._take(node, found)

    def _take(self, node: Node, found: Subgraph) -> None:
        self.version = self.version or found.graph_version
        for alias, name in found.aliases:
            self._canonical[alias] = name
            self._others[name].add(alias)
        for edge in found.edges:
            if not self.project.is_replaced(edge):
                self._add(edge)
                self._explained |= {_subjects(edge)} if isinstance(edge.source, FieldName) else set()
        for edge in (one for gap in found.gaps for one in _assumed_edges(gap)):
            if not self.project.explains(edge):
                self._add(edge)
        nodes = [node, *(edge.target for edge in found.edges if type(edge.target) is type(node))]
        self._is_known |= dict.fromkeys(nodes, True)
        if found.stopped_by:
            self._stopped_by |= dict.fromkeys(nodes, found.stopped_by)

    def _add(self, edge: GraphEdge) -> None:
        self._edges[subject_of(edge.source)][edge] = None


def _impact(change: ColumnChange, graph: UnionGraph) -> Impact:
    if change.kind.is_harmless:
        return Impact()
    start = start_of(change)
    is_known = graph.ask(start)
    if not is_known and isinstance(start, FieldName) and (is_known := graph.ask(change.dataset)):
        found = replace(_search(change.dataset, graph), incomplete="")
        return _of_whole_dataset(start, found, graph)
    impact = _search(start, graph)
    return impact if is_known else replace(impact, incomplete=UNKNOWN_DATASET)


def start_of(change: ColumnChange) -> Node:
    """Where the search for what a change affects begins: a column, by its name in production, or a dataset."""
    column = change.before if change.kind is ChangeKind.RENAMED and change.before else change.column
    return change.dataset if column is None else FieldName(change.dataset, column)


def _of_whole_dataset(start: Node, found: Impact, graph: UnionGraph) -> Impact:
    """The impact of a column that production does not tell from its dataset: everything is assumed."""
    affected = tuple(replace(one, reach=Reach.ASSUMED, path=(start, *one.path[1:])) for one in found.affected)
    return replace(found, affected=affected, incomplete=graph.incomplete([subject_of(start)]))


def _search(start: Node, graph: UnionGraph) -> Impact:
    """Of each node the surest way, and of those the shortest. That may lead through a node by a shorter way than the
    surest to it, so the shortest way of each reach is followed.
    """
    start = graph.canonical(start)
    distances: dict[State, int] = {(start, Reach.VALUE): 0}
    parents: dict[State, State] = {}
    queue: list[tuple[Reach, int, str, Node]] = [(Reach.VALUE, 0, str(start), start)]
    surest: dict[Node, Reach] = {}
    nearest: dict[Node, int] = {}
    while queue:
        reach, distance, _, node = heapq.heappop(queue)
        if nearest.get(node, distance + 1) <= distance:  # a way at least as sure is no longer
            continue
        nearest[node] = distance
        surest.setdefault(node, reach)
        if not isinstance(node, JobName) and not is_hidden(node):
            graph.ask(node)
        for edge in graph.edges_at(node):
            state = graph.canonical(edge.target), max(reach, _REACHES.get(edge.type, Reach.ASSUMED))
            if distance + 1 < distances.get(state, distance + 2):
                distances[state], parents[state] = distance + 1, (node, reach)
                heapq.heappush(queue, (state[1], distance + 1, str(state[0]), state[0]))
    own = subject_of(start)
    affected = tuple(
        Affected(node=node, reach=reach, path=_path((node, reach), parents))
        for node, reach in surest.items()
        if subject_of(node) != own
    )
    return Impact(
        affected=tuple(sorted(affected, key=lambda one: (one.distance, one.reach, str(one.node)))),
        readers=tuple(_readers(start, graph)),
        incomplete=graph.incomplete(tuple(surest)),
    )


def _path(state: State, parents: Mapping[State, State]) -> tuple[Node, ...]:
    path = [state]
    while path[-1] in parents:
        path.append(parents[path[-1]])
    return tuple(node for node, _ in reversed(path))


def _readers(start: Node, graph: UnionGraph) -> Iterator[Reader]:
    latest: dict[tuple[Node, Node], int] = {}
    for edge in graph.edges_at(start):
        key = (edge.owner, subject_of(graph.canonical(edge.target)))
        latest[key] = max(latest.get(key, 0), graph.last_seen(edge))
    for (owner, target), last_seen in sorted(latest.items(), key=lambda item: (-item[1], str(item[0]))):
        if target != subject_of(start):
            yield Reader(job=owner, target=target, last_seen=last_seen)


def _subjects(edge: GraphEdge) -> tuple[Node, Node]:
    return subject_of(edge.source), subject_of(edge.target)


def _is_whole(edge: GraphEdge) -> bool:
    return not isinstance(edge.source, FieldName) and not isinstance(edge.target, FieldName)


def _assumed_edges(gap: GraphGap) -> Iterator[GraphEdge]:
    for target in gap.targets or (gap.owner,):
        yield GraphEdge(source=gap.at, target=target, owner=gap.owner, type=_ASSUMED)
