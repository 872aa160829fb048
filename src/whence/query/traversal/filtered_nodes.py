"""Nodes that match the filter of a question, and the nodes on the paths to them (questions.md)."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from whence.model.ids import Kind, kind_of
from whence.query.traversal.traversal import Traversal, far_end, near_end
from whence.query.traversal.witnesses import Link


def shown(walk: Traversal, root: int) -> set[int]:
    """The nodes that match the question's filter, and the root."""
    reached = set(walk.depth)
    if walk.fits.filter.jobs:
        owners = walk.fits.speaks(walk.owners())
        reached &= walk.owned_by(owners) | owners
    walk.learn(reached)
    return walk.fits.nodes(reached) | {root}


def kept(walk: Traversal, shown_nodes: Iterable[int]) -> set[int]:
    """These nodes, and those on one shortest path from the root to each."""
    found: set[int] = set()
    wanted = set(shown_nodes)
    walk.find_witnesses(wanted)
    for node in wanted:
        at: int | None = node
        while at is not None and at not in found:
            found.add(at)
            at = walk.via[at].parent if at in walk.via else None
    return found


def keep_links(walk: Traversal, nodes: AbstractSet[int]) -> Sequence[Link]:
    """The links that lead from one of these nodes to another."""
    if len(nodes) == len(walk.depth):
        return list(walk.links)
    walk.learn(nodes)
    wholes = {walk.identity.dataset_of[node] for node in nodes if kind_of(node) is Kind.FIELD}
    near = {link: near_end(walk, link) for link in walk.links if far_end(walk, link) in nodes}
    return [link for link, end in near.items() if end in nodes or _touches(walk, end, nodes, wholes)]


def _touches(walk: Traversal, end: int, nodes: AbstractSet[int], wholes: set[int]) -> bool:
    match kind_of(end):
        case Kind.FIELD:
            return walk.identity.dataset_of[end] in nodes
        case Kind.DATASET:
            return end in wholes
    return False
