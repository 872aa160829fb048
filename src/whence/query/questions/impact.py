"""Impact of a change: the affected nodes, counted by kind, owner and tier."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind, kind_of
from whence.model.names import Node
from whence.model.traits import Traits
from whence.query.answers.values import BOTH, Completeness, Question
from whence.query.ports.graph import Graph, Ints
from whence.query.questions.lineage import grain_of, walked
from whence.query.traversal.edges import names_of
from whence.query.traversal.node_counts import NodeCounts, count_nodes
from whence.query.traversal.node_order import NodeOrder
from whence.query.traversal.result import completeness, read_gaps
from whence.query.traversal.traits import TraitReader
from whence.query.traversal.traversal import Traversal

ASKED_FOR_GAPS = 100
"""The number of nearest affected nodes that are checked for gaps."""

KINDS = {Kind.DATASET: "dataset", Kind.FIELD: "field", Kind.JOB: "job"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A downstream node, and one shortest path to it, from the root, both ends included. `type` is the type in its
    facets (VIEW, DASHBOARD, MODEL), or else dataset, field or job. A field has the `owners` and `tier` of its dataset.
    """

    name: Node
    distance: int
    path: tuple[Node, ...]
    type: str
    owners: tuple[str, ...]
    tier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The numbers of affected nodes, without the root. A node with two owners counts for both.

    An empty owner or tier counts nodes without one. `jobs`: the jobs that derive one of the nodes, or are one.
    """

    nodes: int
    jobs: int
    by_kind: Mapping[str, int]
    by_type: Mapping[str, int]
    by_owner: Mapping[str, int]
    by_tier: Mapping[str, int]
    by_distance: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Impact:
    """All counts, and the affected nodes by distance and name, read in parts."""

    root: Node
    grain: Grain
    types: frozenset[str]
    counts: Counts
    completeness: Completeness
    order: NodeOrder
    _page: Callable[[Sequence[int]], Sequence[Affected]]

    def nodes(self, start: int = 0, limit: int | None = None) -> Sequence[Affected]:
        """The affected nodes from index `start` on, with their paths."""
        end = None if limit is None else start + limit
        return self._page(self.order[start:end])


def impact(graph: Graph, root: Node, question: Question) -> Impact:
    """The nodes downstream of `root`. By default along DIRECT and INDIRECT edges; jobs are those that read
    and write.
    """
    types = question.types or BOTH
    walk, chosen = walked(graph, root, question, Direction.DOWNSTREAM, types)
    affected = walk.others()
    if not question.only.is_empty:
        affected = np.array(sorted(chosen - {walk.root}), np.int64)
    knowledge = TraitReader(walk.identity)
    return Impact(
        root=names_of(walk, {walk.root})[walk.root],
        grain=grain_of(root),
        types=types,
        counts=count(walk, affected, knowledge),
        completeness=completeness(walk, has_gaps=_has_gaps(walk, affected)),
        order=NodeOrder(walk, affected),
        _page=lambda ids: _affected(walk, ids, knowledge),
    )


def _has_gaps(walk: Traversal, affected: Ints) -> bool:
    """Whether column lineage is missing at the root, or at one of the nearest nodes."""
    if walk.asked.grain is not Grain.FIELD:
        return False
    nearest = NodeOrder(walk, affected)[:ASKED_FOR_GAPS]
    walk.fetch(nearest)
    return bool(read_gaps(walk, {walk.root, *nearest}))


def count(walk: Traversal, ids: Ints, knowledge: TraitReader) -> Counts:
    """The counts of some nodes of a traversal."""
    found = count_nodes(walk, ids)
    subjects = [subject for _, subject, _ in found.unknown]
    walk.learn(subjects)
    knowledge.learn_subjects(subjects)
    kinds: Counter[Kind] = Counter()
    types: Counter[str] = Counter()
    owners: Counter[str] = Counter()
    tiers: Counter[str] = Counter()
    for kind, said, number in (*found.known, *_asked(found, knowledge)):
        kinds[kind] += number
        types[_type(kind, said)] += number
        tiers[said.tier] += number
        owners.update(dict.fromkeys(said.owners or ("",), number))
    return Counts(
        nodes=kinds.total(),
        jobs=found.jobs,
        by_kind={KINDS[kind]: kinds[kind] for kind in sorted(kinds)},
        by_type=_largest_first(types),
        by_owner=_largest_first(owners),
        by_tier=dict(sorted(tiers.items())),
        by_distance=dict(sorted(found.distances.items())),
    )


def _asked(found: NodeCounts, knowledge: TraitReader) -> Iterator[tuple[Kind, Traits, int]]:
    sorts: Counter[tuple[Kind, Traits]] = Counter()
    for kind, subject, number in found.unknown:
        sorts[kind, knowledge.of_subject(subject)] += number
    return ((*one, number) for one, number in sorts.items())


def _largest_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _type(kind: Kind, traits: Traits) -> str:
    return min(traits.types) if traits.types and kind is not Kind.FIELD else KINDS[kind]


def _affected(walk: Traversal, ids: Sequence[int], knowledge: TraitReader) -> Sequence[Affected]:
    walk.fetch(ids)
    knowledge.learn(ids)
    paths = {id_: _path(walk, id_) for id_ in ids}
    names = names_of(walk, {id_ for path in paths.values() for id_ in path})
    return [
        Affected(
            name=names[id_],
            distance=walk.depth[id_],
            path=tuple(names[step] for step in paths[id_]),
            type=_type(kind_of(id_), traits := knowledge.of(id_)),
            owners=tuple(sorted(traits.owners)),
            tier=traits.tier,
        )
        for id_ in ids
    ]


def _path(walk: Traversal, id_: int) -> list[int]:
    path = [id_]
    while path[-1] in walk.via:
        path.append(walk.via[path[-1]].parent)
    return path[::-1]
