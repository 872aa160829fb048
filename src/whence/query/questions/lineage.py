"""Upstream and downstream lineage of a node."""

from collections.abc import Set as AbstractSet

from whence.model.graph import Direction, Grain
from whence.model.names import FieldName, Node
from whence.query.answers.values import BOTH, DIRECT, Answer, Question
from whence.query.ports.graph import Graph
from whence.query.traversal.filtered_nodes import kept, shown
from whence.query.traversal.result import TraversalResult, reached
from whence.query.traversal.traversal import Traversal, TraversalSpec, traverse


def upstream(graph: Graph, root: Node, question: Question) -> Answer:
    """The nodes upstream of `root`. For a field, by default along DIRECT edges only: the sources of its values."""
    return reach_upstream(graph, root, question).answer()


def downstream(graph: Graph, root: Node, question: Question) -> Answer:
    """The nodes downstream of `root`, by default along DIRECT and INDIRECT edges."""
    return reach_downstream(graph, root, question).answer()


def reach_upstream(graph: Graph, root: Node, question: Question) -> TraversalResult:
    """The nodes of `upstream`, with edges that are read on demand."""
    default = DIRECT if isinstance(root, FieldName) else BOTH
    return _reach(graph, root, Direction.UPSTREAM, question, question.types or default)


def reach_downstream(graph: Graph, root: Node, question: Question) -> TraversalResult:
    """The nodes of `downstream`, with edges that are read on demand."""
    return _reach(graph, root, Direction.DOWNSTREAM, question, question.types or BOTH)


def _reach(
    graph: Graph, root: Node, direction: Direction, question: Question, types: frozenset[str]
) -> TraversalResult:
    walk, chosen = walked(graph, root, question, direction, types)
    return reached(walk, chosen, chosen if question.only.is_empty else kept(walk, chosen))


def walked(
    graph: Graph, root: Node, question: Question, direction: Direction, types: frozenset[str]
) -> tuple[Traversal, AbstractSet[int]]:
    """A traversal from `root`, and the nodes that match the question's filter."""
    grain, within = grain_of(root), question.only.within
    walk = traverse(
        graph,
        root,
        TraversalSpec(direction=direction, grain=grain, types=types, question=question, within=within),
    )
    if question.only.kinds:
        walk.add_jobs()
    return walk, walk.depth.keys() if question.only.is_empty else shown(walk, walk.root)


def grain_of(root: Node) -> Grain:
    """The grain of the edges that a traversal from a node follows."""
    return Grain.FIELD if isinstance(root, FieldName) else Grain.DATASET
