"""Which columns are made of which: from the columns of a dataset or job, or from one, back and, if asked, onward."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whence.model.graph import Direction, Grain
from whence.model.names import FieldName, Node
from whence.query.answers import BOTH, AnswerEdge, Question, dataset_of
from whence.query.edges import assemble_edges
from whence.query.lineage import start
from whence.query.ports import Graph
from whence.query.walk import walk_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Fields sorted by name, and the edges between them. `complete`: nothing was left out."""

    fields: tuple[FieldName, ...]
    edges: tuple[AnswerEdge, ...]
    complete: bool


def columns(graph: Graph, roots: Sequence[Node], question: Question, *, downstream: bool) -> Columns:
    """The columns that those of the roots (datasets or fields) are made of; with `downstream` also what is made of
    them. Influence on whole datasets is left out: its ends are no columns.
    """
    ways = (Direction.UPSTREAM, *((Direction.DOWNSTREAM,) if downstream else ()))
    parts = [_columns(graph, root, question, way) for root in roots for way in ways]
    edges = {_ends(edge): edge for part, _ in parts for edge in part}
    fields = {end for edge in edges.values() for end in (edge.source, edge.target) if isinstance(end, FieldName)}
    return Columns(
        fields=tuple(sorted(fields | {one for one in roots if isinstance(one, FieldName)})),
        edges=tuple(edges[ends] for ends in sorted(edges)),
        complete=all(complete for _, complete in parts),
    )


def _columns(graph: Graph, root: Node, question: Question, way: Direction) -> tuple[Sequence[AnswerEdge], bool]:
    walk, root_id = start(graph, root, question, way, BOTH)
    walk_from(walk, root_id, Grain.FIELD)
    edges = assemble_edges(walk, walk.links, walk.depth)
    between = [one for one in edges.edges if isinstance(one.source, FieldName) and isinstance(one.target, FieldName)]
    return _connected(between, edges.names[root_id], way), walk.stopped_by is None


def _connected(edges: Iterable[AnswerEdge], root: Node, way: Direction) -> list[AnswerEdge]:
    """The edges that hang together with the root, by columns alone."""
    at: dict[Node, list[AnswerEdge]] = {}
    for edge in edges:
        at.setdefault(edge.target if way is Direction.UPSTREAM else edge.source, []).append(edge)
    frontier = [end for end in at if end == root or (not isinstance(root, FieldName) and dataset_of(end) == root)]
    seen, found = set(frontier), list[AnswerEdge]()
    while frontier:
        for edge in at.get(frontier.pop(), ()):
            found.append(edge)
            far = edge.source if way is Direction.UPSTREAM else edge.target
            if far not in seen:
                seen.add(far)
                frontier.append(far)
    return found


def _ends(edge: AnswerEdge) -> tuple[str, str, str]:
    return str(edge.source), str(edge.target), str(edge.owner)
