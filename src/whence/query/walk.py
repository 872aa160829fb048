"""The walk: breadth first over the edges of a graph, one query for each hop, within budgets.

Two field-level edges follow each other if they *touch*: the target of one is the source of the other, or one of the two
is the other's whole dataset. So influence on a whole output reaches all its fields, a model is reached from all its
features, and siblings never mix. A field asks for the edges at itself and at its dataset, a whole dataset for those at
itself and at its fields.

Jobs are never walked through: that would make n inputs times m outputs of each. A job is an end where nothing that it
derives goes on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from whence.model.graph import Direction, EdgeRow, Grain, Hop
from whence.model.ids import Kind, kind_of
from whence.query.answers import Question
from whence.query.identity import Identity
from whence.query.ports import Graph, Ints
from whence.query.transformations import directness

CHUNK = 5_000
"""Nodes asked for in one query."""


class Link(NamedTuple):
    """An edge between canonical nodes, as one owner says it."""

    source: int
    target: int
    owner: int


class Via(NamedTuple):
    """A candidate for a node's witness: the smallest is taken. `rank` prefers direct and confirmed edges."""

    rank: tuple[int, bool]
    parent: int
    link: Link


class Fetching(Protocol):
    """Edges that a walk took, but does not have as rows yet."""

    def fetch(self, walk: "Walk", ids: Iterable[int]) -> None:
        """Give the walk all edges by which it came to nodes, their witnesses, and all names of what is on the way."""
        ...

    def learn(self, walk: "Walk", ids: Iterable[int]) -> None:
        """Make nodes known to the walk by all their names."""
        ...

    def distances(self, ids: Ints) -> Ints:
        """How far each node is from the root."""
        ...

    def by_name(self, ids: Ints) -> Ints:
        """The place of each node's name among all names; -1: not known."""
        ...


@dataclass(slots=True)
class Walk:
    """What a walk has reached so far. Ids are canonical."""

    graph: Graph
    identity: Identity
    question: Question
    direction: Direction
    types: frozenset[str]
    kept_job: int = 0
    """A job that is an end even where it derives something: the end of a path."""
    within: Callable[[Sequence[EdgeRow], Grain], Sequence[EdgeRow]] | None = None
    """Which of the edges found in a hop it may take; None: all."""
    depth: dict[int, int] = field(default_factory=dict)
    via: dict[int, Via] = field(default_factory=dict)
    links: dict[Link, list[EdgeRow]] = field(default_factory=dict)
    unfinished: set[int] = field(default_factory=set)
    """Nodes beyond which there is more, or, where a budget stopped the walk, may be more."""
    stopped_by: str | None = None
    trail: Fetching | None = None
    """Where `links`, `via` and names are until `fetch` has them, if the walk went over arrays."""
    _probed: set[int] = field(default_factory=set)
    _deriving: dict[int, set[int]] = field(default_factory=dict)
    _passed: dict[int, dict[EdgeRow, None]] = field(default_factory=dict)
    _rows: int = 0

    def fetch(self, ids: Iterable[int]) -> None:
        """Have the edges, witnesses and names of what leads to these nodes."""
        if self.trail is not None:
            self.trail.fetch(self, ids)

    def learn(self, ids: Iterable[int]) -> None:
        """Know all names of these nodes."""
        if self.trail is not None:
            self.trail.learn(self, ids)


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows of one query, in order, and the nodes that asked, by id; `asked` is the reverse, where it is needed.
    `unread` asked in vain, the budget was at its end.
    """

    askers: dict[int, list[int]]
    asked: dict[int, list[int]]
    rows: tuple[EdgeRow, ...]
    unread: frozenset[int]


def walk_from(walk: Walk, root: int, grain: Grain) -> None:
    """Walk until nothing is left, or a budget stops it. `root` must be known to the walk's identity."""
    walk.depth[root] = 0
    frontier, hop = [root], Hop(walk.direction, Grain.JOB if kind_of(root) is Kind.JOB else grain, walk.question.at)
    depth = 0
    while frontier and not walk.stopped_by and depth != walk.question.depth:
        depth += 1
        frontier = _hop(walk, frontier, hop, depth)
        hop = Hop(walk.direction, grain, walk.question.at)
    walk.unfinished |= set(frontier) if walk.stopped_by else _going_on(walk, frontier, hop)
    if walk.unfinished and not walk.stopped_by:
        walk.stopped_by = "depth"


def asked_at(walk: Walk, nodes: Iterable[int], grain: Grain) -> dict[int, list[int]]:
    """The ids whose edges belong to each node, as id → nodes, in the order of the nodes."""
    wholes = [node for node in nodes if kind_of(node) is Kind.DATASET and grain is Grain.FIELD]
    members = {node: walk.identity.members(node) for node in wholes}
    fields: dict[int, list[int]] = {}
    if wholes:
        for row in walk.graph.fields(sorted(id_ for ids in members.values() for id_ in ids)):
            fields.setdefault(row.dataset_id, []).append(row.id)
    askers: dict[int, list[int]] = {}
    for node in nodes:
        ids = list(walk.identity.members(node))
        if node in members:
            ids += [inner for id_ in ids for inner in fields.get(id_, ())]
        elif kind_of(node) is Kind.FIELD:
            ids += walk.identity.members(walk.identity.dataset_of[node])
        for id_ in ids:
            askers.setdefault(id_, []).append(node)
    return askers


def _hop(walk: Walk, frontier: Sequence[int], hop: Hop, depth: int) -> list[int]:
    reached: set[int] = set()
    for start in range(0, len(frontier), CHUNK):
        if walk.stopped_by:
            walk.unfinished |= set(frontier[start:])
            break
        found = _ask(walk, frontier[start : start + CHUNK], hop)
        if found.unread:
            walk.stopped_by, walk.unfinished = "edges", walk.unfinished | found.unread
        for row in _accepted(walk, found, hop.grain):
            reached |= _take(walk, row, _takers(walk, row, found), hop.grain, depth)
    return sorted(node for node in reached if kind_of(node) is not Kind.JOB)


def _going_on(walk: Walk, frontier: Sequence[int], hop: Hop) -> set[int]:
    """The nodes of the frontier that have an edge which the walk has not taken."""
    more: set[int] = set()
    for start in range(0, len(frontier), CHUNK):
        found = _ask(walk, frontier[start : start + CHUNK], hop)
        more |= found.unread
        for row in _accepted(walk, found, hop.grain):
            if link_of(walk, row, hop.grain) not in walk.links:
                more |= set(_takers(walk, row, found))
    return more


def _ask(walk: Walk, nodes: Sequence[int], hop: Hop) -> _Found:
    askers = asked_at(walk, nodes, hop.grain)
    probes = [id_ for id_ in askers if id_ not in walk._probed]
    # A job that one node passes by may be an end for another that asks at the same place.
    passed = [row for id_ in askers if id_ in walk._probed for row in walk._passed.get(id_, ())]
    left = max(walk.question.max_edges - walk._rows, 0)
    rows = [*passed, *walk.graph.edges(probes, hop, left + 1)]
    unread = _unread(rows[left:], probes)
    walk._probed.update(probes)
    learn_ends(walk, rows)
    for row in rows:
        if kind_of(row.far_id) is not Kind.JOB:
            walk._deriving.setdefault(row.near_id, set()).add(row.owner_id)
    asked = _turned(askers) if any(kind_of(row.far_id) is Kind.JOB for row in rows[:left]) else {}
    return _Found(askers, asked, tuple(rows[:left]), frozenset(node for id_ in unread for node in askers[id_]))


def learn_ends(walk: Walk, rows: Sequence[EdgeRow]) -> None:
    """Make the ends of edges known by all their names."""
    walk.identity.learn([(row.far_id, row.far_dataset_id) for row in rows])
    walk.identity.learn([(row.near_id, row.near_dataset_id) for row in rows])
    walk.identity.learn((row.far_dataset_id, row.far_dataset_id) for row in rows if row.far_dataset_id)


def _unread(cut: Sequence[EdgeRow], probes: Sequence[int]) -> set[int]:
    """The ids at which edges were left out, for rows come in the order of the probes."""
    ids = {row.near_id for row in cut}
    first = next((place for place, id_ in enumerate(probes) if id_ in ids), len(probes))
    return ids | set(probes[first:])


def _accepted(walk: Walk, found: _Found, grain: Grain) -> Sequence[EdgeRow]:
    accepted = []
    for row in found.rows:
        if not _takers(walk, row, found):
            walk._passed.setdefault(row.near_id, {})[row] = None
        elif _is_of_type(walk, row):
            accepted.append(row)
    return walk.within(accepted, grain) if walk.within else accepted


def _is_of_type(walk: Walk, row: EdgeRow) -> bool:
    return directness(row.type) == 1 or row.type in walk.types


def _takers(walk: Walk, row: EdgeRow, found: _Found) -> list[int]:
    """The nodes that asked, but those at which the far end is a job that derives something: they pass it by."""
    nodes = found.askers[row.near_id]
    if kind_of(row.far_id) is not Kind.JOB or row.far_id == walk.kept_job:
        return nodes
    return [one for one in nodes if one not in found.unread and not _derives(walk, row.far_id, found.asked[one])]


def _derives(walk: Walk, job: int, asked: Iterable[int]) -> bool:
    return any(job in walk._deriving.get(id_, ()) for id_ in asked)


def _turned(askers: dict[int, list[int]]) -> dict[int, list[int]]:
    asked: dict[int, list[int]] = {}
    for id_, nodes in askers.items():
        for node in nodes:
            asked.setdefault(node, []).append(id_)
    return asked


def link_of(walk: Walk, row: EdgeRow, grain: Grain) -> Link:
    """The edge between canonical nodes that a row tells of. At job grain it ends at whole datasets."""
    near, far = walk.identity.canonical(row.near_id), far_of(walk, row, grain)
    ends = (far, near) if walk.direction is Direction.UPSTREAM else (near, far)
    return Link(*ends, row.owner_id)


def far_of(walk: Walk, row: EdgeRow, grain: Grain) -> int:
    """The canonical node that a row leads to."""
    return walk.identity.canonical(row.far_dataset_id if grain is Grain.JOB and row.far_dataset_id else row.far_id)


def _take(walk: Walk, row: EdgeRow, takers: Sequence[int], grain: Grain, depth: int) -> set[int]:
    """Add the edge to the walk, and its far end; the far end is returned if it is new."""
    link = link_of(walk, row, grain)
    far = link.source if walk.direction is Direction.UPSTREAM else link.target
    if far not in walk.depth and len(walk.depth) >= walk.question.max_nodes:
        walk.stopped_by = "nodes"
        walk.unfinished |= set(takers)
        return set()
    walk._rows += 1
    walk.links.setdefault(link, []).append(row)
    known = walk.depth.setdefault(far, depth)
    if known == depth:
        candidate = Via((directness(row.type), not row.confirmed), min(takers), link)
        walk.via[far] = min(walk.via.get(far, candidate), candidate)
    return {far} if known == depth else set()
