"""Impact: what breaks if a node changes, counted by what it is, who owns it and how critical it is."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind, kind_of
from whence.model.names import Node
from whence.model.traits import Traits
from whence.query.answers import BOTH, Extent, Question
from whence.query.edges import names_of
from whence.query.lineage import grain_of, walked
from whence.query.order import ByDistance
from whence.query.ports import Graph
from whence.query.reached import extent, read_gaps
from whence.query.trail import Tally, Trail
from whence.query.traits import Knowledge
from whence.query.walk import Walk

ASKED_FOR_GAPS = 100
"""Of an impact, so many of the nearest nodes are asked for gaps."""

KINDS = {Kind.DATASET: "dataset", Kind.FIELD: "field", Kind.JOB: "job"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A node downstream, and one shortest path to it: from the root, both ends included. `type`: what its facets say
    that it is (VIEW, DASHBOARD, MODEL), else dataset, field or job. `owners` and `tier` of a field are its dataset's.
    """

    name: Node
    distance: int
    path: tuple[Node, ...]
    type: str
    owners: tuple[str, ...]
    tier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many nodes are affected, the root not among them. By owner, a node of two owners counts for both.

    An empty owner or tier: of those that have none. `jobs`: those that derive one of the nodes, or are one.
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
    """All counts, and the affected nodes by distance and name, a part at a time."""

    root: Node
    grain: Grain
    types: frozenset[str]
    counts: Counts
    extent: Extent
    order: ByDistance
    _page: Callable[[Sequence[int]], Sequence[Affected]]

    def nodes(self, start: int = 0, limit: int | None = None) -> Sequence[Affected]:
        """The affected nodes from place `start` on, with their paths."""
        end = None if limit is None else start + limit
        return self._page(self.order[start:end])


def impact(graph: Graph, root: Node, question: Question) -> Impact:
    """What is downstream of `root`. DIRECT and INDIRECT edges unless told otherwise; jobs are what reads and writes."""
    types = question.types or BOTH
    walk, root_id, chosen = walked(graph, root, question, Direction.DOWNSTREAM, types)
    affected = walk.trail.others() if isinstance(walk.trail, Trail) else [id_ for id_ in chosen if id_ != root_id]
    knowledge = Knowledge(walk.identity)
    return Impact(
        root=names_of(walk, {root_id})[root_id],
        grain=grain_of(root),
        types=types,
        counts=count(walk, affected, knowledge),
        extent=extent(walk, has_gaps=_has_gaps(walk, root, root_id, affected)),
        order=ByDistance(walk, affected),
        _page=lambda ids: _affected(walk, ids, knowledge),
    )


def _has_gaps(walk: Walk, root: Node, root_id: int, affected: Iterable[int]) -> bool:
    """Whether columns are not known at the root, or at one of the nearest nodes."""
    if grain_of(root) is not Grain.FIELD:
        return False
    nearest = ByDistance(walk, affected)[:ASKED_FOR_GAPS]
    walk.fetch(nearest)
    return bool(read_gaps(walk, {root_id, *nearest}))


def count(walk: Walk, ids: Iterable[int], knowledge: Knowledge) -> Counts:
    """The counts of some nodes of a walk: of all but its root, if it went over arrays."""
    found = walk.trail.tally() if isinstance(walk.trail, Trail) else _tally(walk, list(ids))
    subjects = [subject for _, subject, _ in found.unsaid]
    walk.learn(subjects)
    knowledge.learn_subjects(subjects)
    kinds: Counter[Kind] = Counter()
    types: Counter[str] = Counter()
    owners: Counter[str] = Counter()
    tiers: Counter[str] = Counter()
    for kind, said, number in (*found.said, *_asked(found, knowledge)):
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


def _tally(walk: Walk, ids: Collection[int]) -> Tally:
    nodes = set(ids)
    jobs = {link.owner for link in walk.links if link.target in nodes} | nodes
    subjects = Counter((kind_of(id_), walk.identity.dataset_of.get(id_, id_)) for id_ in ids)
    return Tally(
        distances=Counter(map(walk.depth.__getitem__, ids)),
        jobs=sum(kind_of(id_) is Kind.JOB for id_ in jobs),
        said=(),
        unsaid=[(*one, number) for one, number in subjects.items()],
    )


def _asked(found: Tally, knowledge: Knowledge) -> Iterator[tuple[Kind, Traits, int]]:
    sorts: Counter[tuple[Kind, Traits]] = Counter()
    for kind, subject, number in found.unsaid:
        sorts[kind, knowledge.of_subject(subject)] += number
    return ((*one, number) for one, number in sorts.items())


def _largest_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _type(kind: Kind, traits: Traits) -> str:
    return min(traits.types) if traits.types and kind is not Kind.FIELD else KINDS[kind]


def _affected(walk: Walk, ids: Sequence[int], knowledge: Knowledge) -> Sequence[Affected]:
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


def _path(walk: Walk, id_: int) -> list[int]:
    path = [id_]
    while path[-1] in walk.via:
        path.append(walk.via[path[-1]].parent)
    return path[::-1]
