"""The walk of `query.walk` over arrays: a whole frontier at a time, without an object for each edge.

It is the same walk, edge for edge, of what holds now and without a filter; the property tests compare the two. Where a
budget of edges ends, it gives up, and the other one answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind
from whence.query.answers import Question
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


@dataclass(slots=True)
class Flood:
    """What was reached. `depth` is by place, one more than the distance; 0: not reached."""

    edges: Adjacency
    question: Question
    direction: Direction
    types: frozenset[str]
    depth: NDArray[np.int32]
    reached: int = 0
    taken: list[Taken] = field(default_factory=list)
    unfinished: list[Ints] = field(default_factory=list)
    stopped_by: str | None = None
    _probed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    _at: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _accepted: set[int] = field(default_factory=set)
    """Keys of edges to jobs that were taken."""
    _rows: int = 0


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
    flood = Flood(edges, question, direction, types, np.zeros(edges.count, np.int32))
    flood._probed, flood._at = np.zeros(edges.count, bool), np.empty(edges.count, np.int64)
    flood.depth[root], flood.reached = 1, 1
    frontier = np.array([root])
    at = Grain.JOB if _kinds(edges, frontier)[0] == Kind.JOB else grain
    depth = 0
    while len(frontier) and not flood.stopped_by and depth != question.depth:
        depth += 1
        frontier, at = _hop(flood, frontier, at, depth), grain
    flood.unfinished += [frontier] if flood.stopped_by else _going_on(flood, frontier, at)
    if any(len(one) for one in flood.unfinished) and not flood.stopped_by:
        flood.stopped_by = "depth"
    return flood


def _hop(flood: Flood, frontier: Ints, grain: Grain, depth: int) -> Ints:
    for start in range(0, len(frontier), CHUNK):
        if flood.stopped_by:
            flood.unfinished.append(frontier[start:])
            break
        pairs = _asked_at(flood.edges, frontier[start : start + CHUNK], grain)
        _take(flood, pairs, *_accepted(flood, pairs, grain), grain, depth)
    fars = [one.far for one in flood.taken if one.depth == depth]
    new = joined(fars)
    new = new[(flood.depth[new] == depth + 1) & (_kinds(flood.edges, new) != Kind.JOB)]
    return _by_id(flood.edges, new)


def _going_on(flood: Flood, frontier: Ints, grain: Grain) -> list[Ints]:
    """The nodes of the frontier that have an edge which was not taken."""
    more = []
    for start in range(0, len(frontier), CHUNK):
        pairs = _asked_at(flood.edges, frontier[start : start + CHUNK], grain)
        more.append(_all_takers(flood, pairs, *_accepted(flood, pairs, grain)))
    return more


def _asked_at(edges: Adjacency, nodes: Ints, grain: Grain) -> _Pairs:
    """A field asks at its names and its dataset's; at field grain, a dataset at its names and their fields."""
    which, asked = edges.members(nodes)
    if grain is not Grain.FIELD:
        return _Pairs(nodes[which], asked)
    kinds = _kinds(edges, nodes)
    fields, wholes = np.flatnonzero(kinds == Kind.FIELD), np.flatnonzero(kinds == Kind.DATASET)
    of_field, above = edges.members(edges.datasets(nodes[fields]))
    own, names = edges.members(nodes[wholes])
    inner, within = edges.fields(names)
    which = np.concatenate([which, fields[of_field], wholes[own[inner]]])
    asked = np.concatenate([asked, above, within])
    order = np.argsort(which, kind="stable")
    return _Pairs(nodes[which[order]], asked[order])


def _accepted(flood: Flood, pairs: _Pairs, grain: Grain) -> tuple[_Rows, _Rows]:
    """The edges that the nodes which ask may take: not those to jobs that derive something at every node that asks. And
    all that there are where somebody asks, if jobs are among them.
    """
    asked = _once(flood, pairs.asked)
    known = flood._probed[asked]
    fresh = _read(flood, asked[~known], grain)
    rows = fresh
    if known.any():
        again = _again(flood, asked[known], grain)
        rows = _Rows(*(np.concatenate(pair) for pair in zip(again, fresh, strict=True)))
    if len(rows.near) > max(flood.question.max_edges - flood._rows, 0):
        raise TooManyEdges
    flood._probed[asked] = True
    all_read, ends = fresh, _ends(flood, rows)
    if len(ends):
        all_read = _read(flood, asked, grain) if known.any() else fresh
        rows = _pick(rows, ~_passed_by(flood, pairs, rows, ends, all_read))
    return _pick(rows, _of_type(flood, rows)), all_read


def _read(flood: Flood, probes: Ints, grain: Grain) -> _Rows:
    which, far, owner, rank, key = flood.edges.edges(probes, flood.direction)
    rows = _Rows(probes[which], far, owner, rank, key)
    if grain is Grain.JOB:
        return rows
    fine = (_kinds(flood.edges, rows.near) == Kind.FIELD) | (_kinds(flood.edges, rows.far) == Kind.FIELD)
    return _pick(rows, fine if grain is Grain.FIELD else ~fine)


def _again(flood: Flood, probes: Ints, grain: Grain) -> _Rows:
    """Edges to jobs that the nodes which asked before passed by: for another node they may be an end."""
    rows = _read(flood, probes, grain)
    rows = _pick(rows, _kinds(flood.edges, rows.far) == Kind.JOB)
    return _pick(rows, np.array([key not in flood._accepted for key in rows.key.tolist()], bool))


def _of_type(flood: Flood, rows: _Rows) -> NDArray[np.bool_]:
    kept = np.ones(len(rows.near), bool)
    for type_, code in _DIRECTNESS.items():
        if type_ not in flood.types:
            kept &= rows.rank & ~1 != code
    return kept


def _passed_by(flood: Flood, pairs: _Pairs, rows: _Rows, ends: Ints, read: _Rows) -> NDArray[np.bool_]:
    """Which rows are passed by; `ends` are those to jobs, `read` all that there are where somebody asks."""
    row, _ = _takers(flood, pairs, rows, ends, read)
    passed = np.zeros(len(rows.near), bool)
    passed[ends] = np.bincount(row, minlength=len(ends)) == 0
    return passed


def _ends(flood: Flood, rows: _Rows) -> Ints:
    return np.flatnonzero(_kinds(flood.edges, rows.far) == Kind.JOB)


def _all_takers(flood: Flood, pairs: _Pairs, rows: _Rows, read: _Rows) -> Ints:
    """The nodes that take one of these edges."""
    ends = _ends(flood, rows)
    others = np.delete(rows.near, ends)
    takers = pairs.asker[among(flood, pairs.asked, others)]
    return joined([takers, _takers(flood, pairs, rows, ends, read)[1]] if len(ends) else [takers])


def _first_takers(flood: Flood, pairs: _Pairs, rows: _Rows, read: _Rows) -> Ints:
    """Who takes each edge: askers come in the order of their ids, and the first is the least."""
    found = pairs.asker[_first(flood, pairs.asked)[rows.near]]
    if len(ends := _ends(flood, rows)):
        row, taker = _takers(flood, pairs, rows, ends, read)
        found[ends] = taker[np.searchsorted(row, np.arange(len(ends)))]
    return found


def _takers(flood: Flood, pairs: _Pairs, rows: _Rows, ends: Ints, read: _Rows) -> tuple[Ints, Ints]:
    """Each (which of the ends, node that asks there), but those where the job derives something at that node."""
    row, asker = _askers(flood, rows.near[ends], pairs)
    mine = among(flood, pairs.asker, asker)
    derived = _derived(flood, _Pairs(pairs.asker[mine], pairs.asked[mine]), read)
    derives = _has(derived, asker * flood.edges.count + rows.far[ends][row])
    return row[~derives], asker[~derives]


def _derived(flood: Flood, pairs: _Pairs, read: _Rows) -> Ints:
    """(node that asks, owner of an edge at it that does not end at a job), as one number each."""
    there = among(flood, read.near, pairs.asked) & (_kinds(flood.edges, read.far) != Kind.JOB)
    rows = _pick(read, there)
    row, asker = _askers(flood, rows.near, pairs)
    return distinct(asker * flood.edges.count + rows.owner[row])


def _askers(flood: Flood, places: Ints, pairs: _Pairs) -> tuple[Ints, Ints]:
    """Who asks at each of the places: (which of them, asker)."""
    first = _first(flood, pairs.asked)
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


def _take(flood: Flood, pairs: _Pairs, rows: _Rows, read: _Rows, grain: Grain, depth: int) -> None:
    """Add edges to the walk, and their far ends, as far as the budget of nodes goes: first come, first taken."""
    edges, far = flood.edges, rows.far
    if grain is Grain.JOB:
        whole = edges.datasets(far)
        far = np.where(whole >= 0, whole, far)
    far = edges.canonical(far)
    new = _once(flood, far[flood.depth[far] == 0])
    left = flood.question.max_nodes - flood.reached
    if len(new) > left:
        out = among(flood, far, new[left:])
        flood.stopped_by = "nodes"
        flood.unfinished.append(_all_takers(flood, pairs, _pick(rows, out), read))
        rows, far = _pick(rows, ~out), far[~out]
        new = new[:left]
    flood.depth[new] = depth + 1
    flood.reached += len(new)
    flood._rows += len(far)
    flood._accepted |= set(rows.key[_kinds(edges, rows.far) == Kind.JOB].tolist())
    parent = _first_takers(flood, pairs, rows, read)
    flood.taken.append(Taken(edges.canonical(rows.near), far, rows.owner, rows.rank, parent, rows.key, depth))


def _pick(rows: _Rows, which: NDArray[np.bool_]) -> _Rows:
    if which.all():
        return rows
    places = np.flatnonzero(which)
    return _Rows(*(one[places] for one in rows))


def _kinds(edges: Adjacency, places: Ints) -> NDArray[np.int8]:
    return edges.kinds(places)


def _by_id(edges: Adjacency, places: Ints) -> Ints:
    return places[np.argsort(edges.canonical_ids(places))]


def _first(flood: Flood, places: Ints) -> Ints:
    """By place: where it is first among some places; of others, anything. Until the next call."""
    flood._at[places[::-1]] = np.arange(len(places))[::-1]
    return flood._at


def _once(flood: Flood, places: Ints) -> Ints:
    """Each place once, in their order."""
    is_first: NDArray[np.bool_] = _first(flood, places)[places] == np.arange(len(places))
    return places[is_first]


def among(flood: Flood, places: Ints, others: Ints) -> NDArray[np.bool_]:
    """Which places are among others."""
    marked = np.zeros(flood.edges.count, bool)
    marked[others] = True
    return marked[places]


def _has(ordered: Ints, numbers: Ints) -> NDArray[np.bool_]:
    """Which numbers are among those that ascend."""
    if not len(ordered):
        return np.zeros(len(numbers), bool)
    found: NDArray[np.bool_] = ordered[np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)] == numbers
    return found


def distinct(numbers: Ints) -> Ints:
    """Each number once, ascending. numpy's `unique` hashes first, which takes thirty times as long."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def joined(parts: Iterable[Ints]) -> Ints:
    """Arrays as one, without repeats, ascending."""
    several = list(parts)
    return distinct(np.concatenate(several)) if several else np.zeros(0, np.int64)
