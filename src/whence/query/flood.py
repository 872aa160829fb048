"""The walk of `query.walk` over arrays: a whole frontier at a time, without an object for each edge.

It is the same walk, edge for edge, without a filter; the property tests compare the two. Where a
budget of edges ends, it gives up, and the other one answers.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind
from whence.query.answers import Question
from whence.query.places import Slate, contains, distinct, joined, slate
from whence.query.ports import Adjacency, Ints

CHUNK = 5_000
"""As many nodes ask at a time as in the other walk: which witness is found may depend on it."""

_DIRECTNESS = {"DIRECT": 0, "INDIRECT": 4}


class TooManyEdges(Exception):
    """The budget of edges ends within the next hop."""


class Taken(NamedTuple):
    """Edges that a chunk of a hop took, by places: canonical ends, owner, who asked first, and key."""

    near: Ints
    far: Ints
    owner: Ints
    rank: Ints
    parent: Ints
    key: Ints
    depth: int


@dataclass(frozen=True, slots=True)
class Flood:
    """What was reached, the nearest first, and how far it is; the edges that were taken; beyond what there is more."""

    edges: Adjacency
    direction: Direction
    places: Ints
    depths: Ints
    taken: tuple[Taken, ...]
    unfinished: Ints
    stopped_by: str | None


@dataclass(slots=True)
class _Walk:
    edges: Adjacency
    question: Question
    direction: Direction
    types: frozenset[str]
    slate: Slate
    reached: int = 0
    taken: list[Taken] = field(default_factory=list)
    unfinished: list[Ints] = field(default_factory=list)
    stopped_by: str | None = None
    accepted: set[int] = field(default_factory=set)
    """Keys of edges to jobs that were taken."""
    rows: int = 0


class _Pairs(NamedTuple):
    """Who asks where: `asked` by `asker`, in the order of the askers' ids and of the places where each asks."""

    asker: Ints
    asked: Ints


class _Rows(NamedTuple):
    """Edges at probes: `near` and `far` as they are in the tables."""

    near: Ints
    far: Ints
    owner: Ints
    rank: Ints
    key: Ints


def flood_from(
    edges: Adjacency, root: int, grain: Grain, question: Question, direction: Direction, types: frozenset[str]
) -> Flood:
    """Walk from the canonical node at a place. Raises TooManyEdges."""
    with slate(edges.count) as blank:
        walk = _Walk(edges, question, direction, types, blank)
        _walk_from(walk, np.array([root]), grain)
        places = blank.reached()
        depths = blank.distances(places).astype(np.int64)
    return Flood(edges, direction, places, depths, tuple(walk.taken), joined(walk.unfinished), walk.stopped_by)


def _walk_from(walk: _Walk, frontier: Ints, grain: Grain) -> None:
    walk.slate.reach(frontier, 0)
    walk.reached = 1
    at = Grain.JOB if walk.edges.kinds(frontier)[0] == Kind.JOB else grain
    depth = 0
    while len(frontier) and not walk.stopped_by and depth != walk.question.depth:
        depth += 1
        frontier, at = _hop(walk, frontier, at, depth), grain
    walk.unfinished += [frontier] if walk.stopped_by else _going_on(walk, frontier, at)
    if any(len(one) for one in walk.unfinished) and not walk.stopped_by:
        walk.stopped_by = "depth"


def _hop(walk: _Walk, frontier: Ints, grain: Grain, depth: int) -> Ints:
    begin = len(walk.taken)
    for start in range(0, len(frontier), CHUNK):
        if walk.stopped_by:
            walk.unfinished.append(frontier[start:])
            break
        pairs = _asked_at(walk.edges, frontier[start : start + CHUNK], grain)
        _take(walk, pairs, *_accepted(walk, pairs, grain), grain, depth)
    new = joined(one.far for one in walk.taken[begin:])
    new = new[(walk.slate.distances(new) == depth) & (walk.edges.kinds(new) != Kind.JOB)]
    return _by_id(walk.edges, new)


def _going_on(walk: _Walk, frontier: Ints, grain: Grain) -> list[Ints]:
    """The nodes of the frontier that have an edge which was not taken."""
    more = []
    for start in range(0, len(frontier), CHUNK):
        pairs = _asked_at(walk.edges, frontier[start : start + CHUNK], grain)
        more.append(_all_takers(walk, pairs, *_accepted(walk, pairs, grain)))
    return more


def _asked_at(edges: Adjacency, nodes: Ints, grain: Grain) -> _Pairs:
    """A field asks at its names and its dataset's; at field grain, a dataset at its names and their fields."""
    which, asked = edges.members(nodes)
    if grain is not Grain.FIELD:
        return _Pairs(nodes[which], asked)
    kinds = edges.kinds(nodes)
    fields, wholes = np.flatnonzero(kinds == Kind.FIELD), np.flatnonzero(kinds == Kind.DATASET)
    of_field, above = edges.members(edges.datasets(nodes[fields]))
    own, names = edges.members(nodes[wholes])
    inner, within = edges.fields(names)
    which = np.concatenate([which, fields[of_field], wholes[own[inner]]])
    asked = np.concatenate([asked, above, within])
    order = np.argsort(which, kind="stable")
    return _Pairs(nodes[which[order]], asked[order])


def _accepted(walk: _Walk, pairs: _Pairs, grain: Grain) -> tuple[_Rows, _Rows]:
    """The edges that the nodes which ask may take: not those to jobs that derive something at every node that asks. And
    all that there are where somebody asks, if jobs are among them.
    """
    asked = walk.slate.once(pairs.asked)
    known = walk.slate.probed(asked)
    fresh = _read(walk, asked[~known], grain)
    rows = fresh
    if known.any():
        again = _again(walk, asked[known], grain)
        rows = _Rows(*(np.concatenate(pair) for pair in zip(again, fresh, strict=True)))
    if len(rows.near) > max(walk.question.max_edges - walk.rows, 0):
        raise TooManyEdges
    walk.slate.probe(asked)
    all_read, ends = fresh, _ends(walk, rows)
    if len(ends):
        all_read = _read(walk, asked, grain) if known.any() else fresh
        rows = _pick(rows, ~_passed_by(walk, pairs, rows, ends, all_read))
    return _pick(rows, _of_type(walk, rows)), all_read


def _read(walk: _Walk, probes: Ints, grain: Grain) -> _Rows:
    which, far, owner, rank, key = walk.edges.edges(probes, walk.direction)
    rows = _Rows(probes[which], far, owner, rank, key)
    if grain is Grain.JOB:
        return rows
    fine = (walk.edges.kinds(rows.near) == Kind.FIELD) | (walk.edges.kinds(rows.far) == Kind.FIELD)
    return _pick(rows, fine if grain is Grain.FIELD else ~fine)


def _again(walk: _Walk, probes: Ints, grain: Grain) -> _Rows:
    """Edges to jobs that the nodes which asked before passed by: for another node they may be an end."""
    rows = _read(walk, probes, grain)
    rows = _pick(rows, walk.edges.kinds(rows.far) == Kind.JOB)
    return _pick(rows, np.array([key not in walk.accepted for key in rows.key.tolist()], bool))


def _of_type(walk: _Walk, rows: _Rows) -> NDArray[np.bool_]:
    kept = np.ones(len(rows.near), bool)
    for type_, code in _DIRECTNESS.items():
        if type_ not in walk.types:
            kept &= rows.rank & ~1 != code
    return kept


def _passed_by(walk: _Walk, pairs: _Pairs, rows: _Rows, ends: Ints, read: _Rows) -> NDArray[np.bool_]:
    """Which rows are passed by; `ends` are those to jobs, `read` all that there are where somebody asks."""
    row, _ = _takers(walk, pairs, rows, ends, read)
    passed = np.zeros(len(rows.near), bool)
    passed[ends] = np.bincount(row, minlength=len(ends)) == 0
    return passed


def _ends(walk: _Walk, rows: _Rows) -> Ints:
    return np.flatnonzero(walk.edges.kinds(rows.far) == Kind.JOB)


def _all_takers(walk: _Walk, pairs: _Pairs, rows: _Rows, read: _Rows) -> Ints:
    """The nodes that take one of these edges."""
    ends = _ends(walk, rows)
    others = np.delete(rows.near, ends)
    takers = pairs.asker[walk.slate.among(pairs.asked, others)]
    return joined([takers, _takers(walk, pairs, rows, ends, read)[1]] if len(ends) else [takers])


def _first_takers(walk: _Walk, pairs: _Pairs, rows: _Rows, read: _Rows) -> Ints:
    """Who takes each edge: askers come in the order of their ids, and the first is the least."""
    found = pairs.asker[walk.slate.first(pairs.asked)[rows.near]]
    if len(ends := _ends(walk, rows)):
        row, taker = _takers(walk, pairs, rows, ends, read)
        found[ends] = taker[np.searchsorted(row, np.arange(len(ends)))]
    return found


def _takers(walk: _Walk, pairs: _Pairs, rows: _Rows, ends: Ints, read: _Rows) -> tuple[Ints, Ints]:
    """Each (which of the ends, node that asks there), but those where the job derives something at that node."""
    row, asker = _askers(walk, rows.near[ends], pairs)
    mine = walk.slate.among(pairs.asker, asker)
    derived = _derived(walk, _Pairs(pairs.asker[mine], pairs.asked[mine]), read)
    derives = contains(derived, asker * walk.edges.count + rows.far[ends][row])
    return row[~derives], asker[~derives]


def _derived(walk: _Walk, pairs: _Pairs, read: _Rows) -> Ints:
    """(node that asks, owner of an edge at it that does not end at a job), as one number each."""
    there = walk.slate.among(read.near, pairs.asked) & (walk.edges.kinds(read.far) != Kind.JOB)
    rows = _pick(read, there)
    row, asker = _askers(walk, rows.near, pairs)
    return distinct(asker * walk.edges.count + rows.owner[row])


def _askers(walk: _Walk, places: Ints, pairs: _Pairs) -> tuple[Ints, Ints]:
    """Who asks at each of the places: (which of them, asker)."""
    first = walk.slate.first(pairs.asked)
    if (first[pairs.asked] == np.arange(len(pairs.asked))).all():  # nobody asks where another does
        return np.arange(len(places)), pairs.asker[first[places]]
    return _join(places, pairs.asked, pairs.asker)


def _join(left: Ints, right: Ints, values: Ints) -> tuple[Ints, Ints]:
    """For each of `left`, the values at the same key on the right: (which of the left, value)."""
    order = np.argsort(right, kind="stable")
    low, high = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
    counts = high - low
    ends = np.cumsum(counts)
    places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(low - (ends - counts), counts)
    return np.repeat(np.arange(len(left)), counts), values[order][places]


def _take(walk: _Walk, pairs: _Pairs, rows: _Rows, read: _Rows, grain: Grain, depth: int) -> None:
    """Add edges to the walk, and their far ends, as far as the budget of nodes goes: first come, first taken."""
    edges, far = walk.edges, rows.far
    if grain is Grain.JOB:
        whole = edges.datasets(far)
        far = np.where(whole >= 0, whole, far)
    far = edges.canonical(far)
    new = walk.slate.once(far[walk.slate.distances(far) < 0])
    left = walk.question.max_nodes - walk.reached
    if len(new) > left:
        out = walk.slate.among(far, new[left:])
        walk.stopped_by = "nodes"
        walk.unfinished.append(_all_takers(walk, pairs, _pick(rows, out), read))
        rows, far = _pick(rows, ~out), far[~out]
        new = new[:left]
    walk.slate.reach(new, depth)
    walk.reached += len(new)
    walk.rows += len(far)
    walk.accepted |= set(rows.key[edges.kinds(rows.far) == Kind.JOB].tolist())
    parent = _first_takers(walk, pairs, rows, read)
    walk.taken.append(Taken(edges.canonical(rows.near), far, rows.owner, rows.rank, parent, rows.key, depth))


def _pick(rows: _Rows, which: NDArray[np.bool_]) -> _Rows:
    if which.all():
        return rows
    places = np.flatnonzero(which)
    return _Rows(*(one[places] for one in rows))


def _by_id(edges: Adjacency, places: Ints) -> Ints:
    return places[np.argsort(edges.canonical_ids(places))]
