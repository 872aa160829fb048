"""Paths between two nodes: shortest first, without repeated nodes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import FieldName, JobName, Node
from whence.query.answers.transformations import in_a_row, side_by_side
from whence.query.answers.values import BOTH, Completeness, Path, Paths, Question, Step, dataset_of
from whence.query.ports.graph import Graph
from whence.query.traversal.edges import Edges, assemble_edges
from whence.query.traversal.result import completeness
from whence.query.traversal.traversal import Traversal, TraversalSpec, traverse
from whence.query.traversal.witnesses import Link

STEPS = 50_000
"""The most partial paths to check."""

Neighbours = Mapping[int, Mapping[int, list[Link]]]
"""Node → the nodes one hop upstream of it → the links of that hop."""


class _Partial(NamedTuple):
    """A partial path back from the target, ordered by the least possible length. `nodes` begins at the target."""

    least: int
    nodes: tuple[int, ...]


def paths(graph: Graph, source: Node, target: Node, question: Question, limit: int = 20) -> Paths:
    """The shortest paths from source to target, at most `limit`. If one end is a job, the other is a job or
    a dataset.
    """
    grain = _grain(source, target)
    ends = [_at_grain(end, grain) for end in (source, target)]
    types = question.types or BOTH
    kept_job = node_id(source) if isinstance(source, JobName) else 0
    spec = TraversalSpec(direction=Direction.UPSTREAM, grain=grain, types=types, question=question, kept_job=kept_job)
    walk = traverse(graph, ends[1], spec)
    target_id = walk.root
    goals = _goals(walk, ends[0], grain)
    neighbours = _neighbours(walk, grain, _on_the_way(walk, goals))
    found, gave_up = _search(neighbours, target_id, goals, limit)
    hops = {(near, far) for nodes in found for near, far in pairwise(nodes)}
    links = {link for near, far in hops for link in neighbours[near][far]}
    edges = assemble_edges(walk, links, {target_id, *(id_ for nodes in found for id_ in nodes)})
    return Paths(
        source=ends[0],
        target=edges.name(target_id),
        grain=grain,
        types=types,
        paths=tuple(_path(edges, neighbours, nodes) for nodes in found),
        completeness=_completeness(walk, gave_up),
    )


def _grain(source: Node, target: Node) -> Grain:
    jobs = isinstance(source, JobName) or isinstance(target, JobName)
    fields = isinstance(source, FieldName) or isinstance(target, FieldName)
    return Grain.FIELD if fields and not jobs else Grain.DATASET


def _at_grain(end: Node, grain: Grain) -> Node:
    return end if grain is Grain.FIELD else dataset_of(end) or end


def _goals(walk: Traversal, source: Node, grain: Grain) -> frozenset[int]:
    """The nodes at which a path may begin: the source, and at field grain also its whole dataset or its fields."""
    dataset = dataset_of(source)
    whole = node_id(dataset) if dataset else 0
    walk.identity.learn([(whole, whole), (node_id(source), whole)])
    chosen = walk.identity.canonical(node_id(source))
    goals = {chosen}
    if grain is Grain.FIELD and isinstance(source, FieldName):
        goals.add(walk.identity.dataset_of[chosen])
    elif grain is Grain.FIELD:
        goals |= walk.inside(chosen)
    return frozenset(goals)


def _on_the_way(walk: Traversal, goals: Collection[int]) -> Collection[int]:
    """The nodes that paths may pass, with all edges between them."""
    found = walk.on_the_way_to(goals)
    walk.read(found)
    return found


def _neighbours(walk: Traversal, grain: Grain, nodes: Iterable[int]) -> Neighbours:
    at: dict[int, list[Link]] = {}
    inside: dict[int, list[Link]] = {}
    for link in walk.links:
        at.setdefault(link.target, []).append(link)
        if kind_of(link.target) is Kind.FIELD:
            inside.setdefault(walk.identity.dataset_of[link.target], []).append(link)
    found: dict[int, dict[int, list[Link]]] = {}
    for node in sorted(nodes):
        touching = [*at.get(node, ()), *inside.get(node, ())]
        if kind_of(node) is Kind.FIELD:
            touching += at.get(walk.identity.dataset_of[node], ())
        for link in touching if grain is Grain.FIELD else at.get(node, ()):
            found.setdefault(node, {}).setdefault(link.source, []).append(link)
    return found


Found = tuple[list[tuple[int, ...]], bool]
"""Paths from the target back to a goal, as nodes, and whether there may be more."""


def _search(neighbours: Neighbours, target: int, goals: frozenset[int], limit: int) -> Found:
    """The shortest paths without repeated nodes."""
    left = _distances(neighbours, goals)
    heap = [_Partial(left[target], (target,))] if target in left else []
    found: list[tuple[int, ...]] = []
    for _ in range(STEPS):
        if not heap or len(found) > limit:
            break
        nodes = heappop(heap).nodes
        if nodes[-1] in goals:
            found.append(nodes)
            continue
        for node in neighbours.get(nodes[-1], ()):
            if node in left and node not in nodes:
                heappush(heap, _Partial(len(nodes) + left[node], (*nodes, node)))
    return found[:limit], bool(heap) or len(found) > limit


def _distances(neighbours: Neighbours, goals: frozenset[int]) -> Mapping[int, int]:
    """The number of hops from each node to the nearest goal."""
    back: dict[int, list[int]] = {}
    for near, fars in neighbours.items():
        for far in fars:
            back.setdefault(far, []).append(near)
    distances, frontier = dict.fromkeys(goals, 0), list(goals)
    while frontier:
        reached = {near for far in frontier for near in back.get(far, ()) if near not in distances}
        depth = distances[frontier[0]] + 1
        distances.update(dict.fromkeys(reached, depth))
        frontier = list(reached)
    return distances


def _path(edges: Edges, neighbours: Neighbours, nodes: Sequence[int]) -> Path:
    steps = [_step(edges, far, near, neighbours[near][far]) for near, far in pairwise(nodes)][::-1]
    hops = [side_by_side([one for edge in step.edges for one in edge.transformations]) for step in steps]
    return Path(steps=tuple(steps), via=reduce(in_a_row, hops) if hops else None)


def _step(edges: Edges, source: int, target: int, links: Sequence[Link]) -> Step:
    parallel = tuple(edges.edges[place] for place in sorted(edges.places[link] for link in links))
    return Step(source=edges.name(source), target=edges.name(target), edges=parallel)


def _completeness(walk: Traversal, gave_up: bool) -> Completeness:
    known = completeness(walk)
    if not gave_up:
        return known
    return replace(known, complete=False, stopped_by=known.stopped_by or "paths")
