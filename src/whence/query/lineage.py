"""Upstream and downstream: where a thing comes from, and what depends on it."""

from collections.abc import Set as AbstractSet
from functools import partial

from whence.model.graph import Direction, Grain
from whence.model.ids import node_id
from whence.model.names import FieldName, Node
from whence.query.answers import BOTH, DIRECT, Answer, Question, dataset_of
from whence.query.filters import drop_links, fitting, kept, shown
from whence.query.identity import Identity
from whence.query.ports import Graph
from whence.query.reached import Reached, reached
from whence.query.trail import walk_arrays
from whence.query.walk import Walk, walk_from


def upstream(graph: Graph, root: Node, question: Question) -> Answer:
    """Where `root` comes from. A field asks for DIRECT edges unless told otherwise: what its values are made of."""
    return reach_upstream(graph, root, question).answer()


def downstream(graph: Graph, root: Node, question: Question) -> Answer:
    """What `root` has a part in: DIRECT and INDIRECT edges unless told otherwise."""
    return reach_downstream(graph, root, question).answer()


def reach_upstream(graph: Graph, root: Node, question: Question) -> Reached:
    """The nodes of `upstream`, whose edges are read as they are asked for."""
    default = DIRECT if isinstance(root, FieldName) else BOTH
    return _reach(graph, root, Direction.UPSTREAM, question, question.types or default)


def reach_downstream(graph: Graph, root: Node, question: Question) -> Reached:
    """Those of `downstream`, likewise."""
    return _reach(graph, root, Direction.DOWNSTREAM, question, question.types or BOTH)


def _reach(graph: Graph, root: Node, direction: Direction, question: Question, types: frozenset[str]) -> Reached:
    walk, root_id, chosen = walked(graph, root, question, direction, types)
    if question.only.is_empty:
        return reached(walk, root_id, grain_of(root), chosen, chosen)
    nodes = kept(walk, chosen)
    if len(nodes) < len(walk.depth):
        drop_links(walk, nodes)
    return reached(walk, root_id, grain_of(root), chosen, nodes)


def start(
    graph: Graph, root: Node, question: Question, direction: Direction, types: frozenset[str]
) -> tuple[Walk, int]:
    """A walk that has not begun, and the canonical id of its root."""
    identity, root_id = canonical_root(graph, root)
    return Walk(graph=graph, identity=identity, question=question, direction=direction, types=types), root_id


def canonical_root(graph: Graph, root: Node) -> tuple[Identity, int]:
    """What is known of a node's names, and the id of the one that stands for all of them."""
    identity = Identity(graph)
    dataset = dataset_of(root)
    known = (node_id(dataset), node_id(dataset)) if dataset else (0, 0)
    identity.learn([known, (node_id(root), known[0])])
    return identity, identity.canonical(node_id(root))


def walked(
    graph: Graph, root: Node, question: Question, direction: Direction, types: frozenset[str]
) -> tuple[Walk, int, AbstractSet[int]]:
    """A walk from `root` to its end, the canonical id of its root, and the nodes that fit the question's filter."""
    walk, root_id = start(graph, root, question, direction, types)
    grain = grain_of(root)
    if walk_arrays(walk, root_id, grain):
        return walk, root_id, walk.depth.keys()
    fits = fitting(walk)
    if question.only.within and not question.only.is_empty:
        walk.within = partial(fits.rows, walk)
    walk_from(walk, root_id, grain)
    return walk, root_id, walk.depth.keys() if question.only.is_empty else shown(walk, fits, root_id)


def grain_of(root: Node) -> Grain:
    """Which edges a walk from a node follows."""
    return Grain.FIELD if isinstance(root, FieldName) else Grain.DATASET
