"""Upstream and downstream: where a thing comes from, and what depends on it."""

from collections.abc import Iterable, Sequence

from whence.log.position import Position, positions_text
from whence.model.graph import Direction, Grain, Hop
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, Node
from whence.query.answers import BOTH, DIRECT, Answer, AnswerNode, Extent, Gap, Question, dataset_of
from whence.query.edges import Edges, assemble_edges
from whence.query.identity import Identity
from whence.query.ports import Graph
from whence.query.transformations import Transformation, in_a_row, side_by_side
from whence.query.walk import Walk, walk_from


def upstream(graph: Graph, root: Node, question: Question) -> Answer:
    """Where `root` comes from. A field asks for DIRECT edges unless told otherwise: what its values are made of."""
    default = DIRECT if isinstance(root, FieldName) else BOTH
    return _ask(graph, root, Direction.UPSTREAM, question, question.types or default)


def downstream(graph: Graph, root: Node, question: Question) -> Answer:
    """What `root` has a part in: DIRECT and INDIRECT edges unless told otherwise."""
    return _ask(graph, root, Direction.DOWNSTREAM, question, question.types or BOTH)


def start(
    graph: Graph, root: Node, question: Question, direction: Direction, types: frozenset[str]
) -> tuple[Walk, int]:
    """A walk that has not begun, and the canonical id of its root."""
    identity = Identity(graph)
    dataset = dataset_of(root)
    known = (node_id(dataset), node_id(dataset)) if dataset else (0, 0)
    identity.learn([known, (node_id(root), known[0])])
    walk = Walk(graph=graph, identity=identity, question=question, direction=direction, types=types)
    return walk, identity.canonical(node_id(root))


def extent(walk: Walk, names: Edges) -> Extent:
    """How much of the truth a finished walk holds."""
    at, horizon = walk.question.at, walk.graph.forgotten_before()
    gone = horizon if at is not None and horizon is not None and at < horizon else None
    stopped_by = walk.stopped_by or (None if gone is None else "retention")
    return Extent(
        complete=not stopped_by,
        stopped_by=stopped_by,
        depth_reached=max(walk.depth.values()),
        frontier=tuple(sorted((names.name(id_) for id_ in walk.unfinished), key=str)),
        as_of=walk.question.at,
        graph_version=positions_text(map(Position.from_int, walk.graph.reached())),
        forgotten_before=gone,
    )


def _ask(graph: Graph, root: Node, direction: Direction, question: Question, types: frozenset[str]) -> Answer:
    grain = Grain.FIELD if isinstance(root, FieldName) else Grain.DATASET
    walk, root_id = start(graph, root, question, direction, types)
    walk_from(walk, root_id, grain)
    gaps = _read_gaps(walk) if grain is Grain.FIELD else {}
    edges = assemble_edges(walk, {*walk.depth, *(id_ for key, others in gaps.items() for id_ in (*key, *others))})
    return Answer(
        root=edges.name(root_id),
        direction=direction,
        grain=grain,
        types=types,
        nodes=_nodes(walk, edges),
        edges=edges.edges,
        gaps=_gaps(edges, gaps),
        extent=extent(walk, edges),
    )


def _nodes(walk: Walk, edges: Edges) -> tuple[AnswerNode, ...]:
    vias: dict[int, Transformation] = {}
    nodes = []
    for id_, depth in sorted(walk.depth.items(), key=lambda item: (item[1], str(edges.name(item[0])))):
        aliases = walk.identity.names_of(id_)[1:]
        if (last := walk.via.get(id_)) is None:
            nodes.append(AnswerNode(name=edges.name(id_), depth=depth, aliases=aliases))
            continue
        place = edges.places[last.link]
        hop = side_by_side(edges.edges[place].transformations)
        vias[id_] = in_a_row(vias[last.parent], hop) if last.parent in vias else hop
        parent = edges.name(last.parent)
        node = AnswerNode(name=edges.name(id_), depth=depth, aliases=aliases, parent=parent, edge=place, via=vias[id_])
        nodes.append(node)
    return tuple(nodes)


GapKey = tuple[int, int]
"""The node where the walk ends, and the owner who has no columns for it."""


def _read_gaps(walk: Walk) -> dict[GapKey, list[int]]:
    inside: dict[int, list[int]] = {}
    for node in sorted(set(walk.depth) - walk.unfinished):
        if kind_of(node) is not Kind.JOB:
            for member in walk.identity.members(walk.identity.dataset_of[node]):
                inside.setdefault(member, []).append(node)
    limit = walk.question.max_edges
    rows = walk.graph.gaps(list(inside), Hop(walk.direction, Grain.FIELD, walk.question.at), limit + 1)
    if len(rows) > limit:
        walk.stopped_by = walk.stopped_by or "edges"
        walk.unfinished |= {node for nodes in inside.values() for node in nodes}
    walk.identity.learn((row.other_id, row.other_id) for row in rows if row.other_id)
    gaps: dict[GapKey, list[int]] = {}
    for row in rows[:limit]:
        others = [walk.identity.canonical(row.other_id)] if row.other_id else []
        for node in inside[row.dataset_id]:
            gaps.setdefault((node, row.owner_id), []).extend(others)
    return gaps


def _gaps(edges: Edges, gaps: dict[GapKey, list[int]]) -> tuple[Gap, ...]:
    found = [
        Gap(at=edges.name(at), owner=edges.name(owner), datasets=_datasets(edges, others))
        for (at, owner), others in gaps.items()
    ]
    return tuple(sorted(found, key=lambda gap: (str(gap.at), str(gap.owner))))


def _datasets(edges: Edges, ids: Iterable[int]) -> tuple[DatasetName, ...]:
    names: Sequence[Node] = [edges.name(id_) for id_ in set(ids)]
    return tuple(sorted(name for name in names if isinstance(name, DatasetName)))
