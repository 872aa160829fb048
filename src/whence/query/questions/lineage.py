"""Upstream and downstream: where a thing comes from, and what depends on it."""

from collections.abc import Set as AbstractSet

from whence.model.graph import Direction, Grain
from whence.model.names import FieldName, Node
from whence.query.answers.values import BOTH, DIRECT, Answer, Question
from whence.query.ports.graph import Graph
from whence.query.traversal.filtered_nodes import kept, shown
from whence.query.traversal.result import TraversalResult, reached
from whence.query.traversal.traversal import Traversal, Traversed, traverse


def upstream(graph: Graph, root: Node, question: Question) -> Answer:
    """Where `root` comes from. A field asks for DIRECT edges unless told otherwise: what its values are made of."""
    return reach_upstream(graph, root, question).answer()


def downstream(graph: Graph, root: Node, question: Question) -> Answer:
    """What `root` has a part in: DIRECT and INDIRECT edges unless told otherwise."""
    return reach_downstream(graph, root, question).answer()


def reach_upstream(graph: Graph, root: Node, question: Question) -> TraversalResult:
    """The nodes of `upstream`, whose edges are read as they are asked for."""
    default = DIRECT if isinstance(root, FieldName) else BOTH
    return _reach(graph, root, Direction.UPSTREAM, question, question.types or default)


def reach_downstream(graph: Graph, root: Node, question: Question) -> TraversalResult:
    """Those of `downstream`, likewise."""
    return _reach(graph, root, Direction.DOWNSTREAM, question, question.types or BOTH)


def _reach(
    graph: Graph, root: Node, direction: Direction, question: Question, types: frozenset[str]
) -> TraversalResult:
    walk, chosen = walked(graph, root, question, direction, types)
    return reached(walk, chosen, chosen if question.only.is_empty else kept(walk, chosen))


def walked(
    graph: Graph, root: Node, question: Question, direction: Direction, types: frozenset[str]
) -> tuple[Traversal, AbstractSet[int]]:
    """A traversal from `root`, and the nodes that fit the question's filter."""
    grain, within = grain_of(root), question.only.within
    walk = traverse(
        graph, root, Traversed(direction=direction, grain=grain, types=types, question=question, within=within)
    )
    return walk, walk.depth.keys() if question.only.is_empty else shown(walk, walk.root)


def grain_of(root: Node) -> Grain:
    """Which edges a walk from a node follows."""
    return Grain.FIELD if isinstance(root, FieldName) else Grain.DATASET
