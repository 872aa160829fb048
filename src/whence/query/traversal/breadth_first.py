"""Breadth-first search over an `Adjacency`: a whole frontier at a time, as arrays, within budgets.

Two field-level edges follow each other if they *touch*: the target of one is the source of the other, or one of the two
is the whole dataset of the other. So influence on a whole output reaches all its fields, a model is reached from all
its features, and siblings never mix. A field probes for edges at itself and at its dataset, a whole dataset at itself
and at its fields.

The search never continues from a job: that would make n inputs times m outputs of each. A job is an end only where it
derives no edge that continues.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.model.graph import Direction, Grain
from whence.model.ids import Kind
from whence.query.answers.values import Question
from whence.query.ports.graph import Adjacency, Ints
from whence.query.traversal.index_sets import VisitedMap, contains, distinct, joined, visited_map

CHUNK = 5_000
"""Nodes whose edges are fetched together."""

_ALL = 2**62
_NONE = np.zeros(0, np.int64)
_DIRECTNESS = {"DIRECT": 0, "INDIRECT": 4}

Accept = Callable[[Ints, Ints], NDArray[np.bool_]]
"""Selects the edges that a search may follow, by their owners and far ends."""


class TooManyEdges(Exception):
    """The budget of edges ends within the next hop, and the adjacency cannot determine exactly where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search from the canonical node at index `root`.

    `kept_job` is a job that is an end although it derives an edge, as the end of a path; -1: none.
    """

    adjacency: Adjacency
    root: int
    grain: Grain
    question: Question
    direction: Direction
    types: frozenset[str]
    kept_job: int = -1
    accept: Accept | None = None


class TakenEdges(NamedTuple):
    """Edges that a search followed together, as indices: canonical ends, owner, the first node that probed, and key."""

    near: Ints
    far: Ints
    owner: Ints
    rank: Ints
    parent: Ints
    key: Ints
    depth: int


@dataclass(frozen=True, slots=True)
class Reached:
    """The reached nodes with their distances, nearest first; the followed edges; and the frontier: nodes beyond which
    there is more, or may be more if a budget stopped the search.
    """

    places: Ints
    depths: Ints
    taken: tuple[TakenEdges, ...]
    unfinished: Ints
    stopped_by: str | None


@dataclass(slots=True)
class _State:
    search: Search
    visited: VisitedMap
    reached: int = 1
    rows: int = 0
    taken: list[TakenEdges] = field(default_factory=list)
    unfinished: list[Ints] = field(default_factory=list)
    stopped_by: str | None = None
    passed: set[int] = field(default_factory=set)
    """Keys of edges to jobs that no probing node followed; for another node they may be an end."""
    accepted: set[int] = field(default_factory=set)
    """Keys of edges to jobs that were followed."""


class _Pairs(NamedTuple):
    """Pairs of a probing node (`node`) and a node that it probes (`probe`), ordered by the ids of `node`,
    then by probe.
    """

    node: Ints
    probe: Ints


class _Rows(NamedTuple):
    """Edges at probes: `near` and `far` as in the tables."""

    near: Ints
    far: Ints
    owner: Ints
    rank: Ints
    key: Ints


class _Found(NamedTuple):
    """The edges that probing nodes may follow, all edges read, and the nodes whose edges the budget left unread."""

    pairs: _Pairs
    rows: _Rows
    read: _Rows
    unread: Ints


def search_breadth_first(search: Search) -> Reached:
    """Search until no edge is left, or a budget ends. Raises TooManyEdges."""
    with visited_map(search.adjacency.count) as blank:
        state = _State(search, blank)
        _search(state)
        places = blank.reached()
        depths = blank.distances(places).astype(np.int64)
    return Reached(places, depths, tuple(state.taken), joined(state.unfinished), state.stopped_by)


def _search(state: _State) -> None:
    frontier, grain = np.array([state.search.root]), state.search.grain
    state.visited.reach(frontier, 0)
    at = Grain.JOB if state.search.adjacency.kinds(frontier)[0] == Kind.JOB else grain
    depth = 0
    while len(frontier) and not state.stopped_by and depth != state.search.question.depth:
        depth += 1
        frontier, at = _expand(state, frontier, at, depth), grain
    state.unfinished += [frontier] if state.stopped_by else _nodes_with_more(state, frontier, at)
    if any(len(one) for one in state.unfinished) and not state.stopped_by:
        state.stopped_by = "depth"


def _expand(state: _State, frontier: Ints, grain: Grain, depth: int) -> Ints:
    """Follow the edges of a frontier, and return the next one."""
    begin = len(state.taken)
    for start in range(0, len(frontier), CHUNK):
        if state.stopped_by:
            state.unfinished.append(frontier[start:])
            break
        found = _find_edges(state, frontier[start : start + CHUNK], grain)
        if len(found.unread):
            state.stopped_by = "edges"
            state.unfinished.append(found.unread)
        _follow_edges(state, found, grain, depth)
    new = joined(one.far for one in state.taken[begin:])
    edges = state.search.adjacency
    new = new[(state.visited.distances(new) == depth) & (edges.kinds(new) != Kind.JOB)]
    following: Ints = new[np.argsort(edges.canonical_ids(new))]
    return following


def _nodes_with_more(state: _State, frontier: Ints, grain: Grain) -> list[Ints]:
    """The nodes of the frontier that have an edge which was not followed."""
    more = []
    passed = np.array(sorted(state.passed & state.accepted), np.int64)
    for start in range(0, len(frontier), CHUNK):
        found = _find_edges(state, frontier[start : start + CHUNK], grain)
        more += [found.unread, _all_takers(state, found, _pick(found.rows, ~contains(passed, found.rows.key)))]
    return more


def _find_edges(state: _State, nodes: Ints, grain: Grain) -> _Found:
    pairs = _probes_of(state.search.adjacency, nodes, grain)
    state.visited.fit(state.search.adjacency.count)
    places = state.visited.once(pairs.probe)
    is_probed = state.visited.probed(places)
    probes = places[~is_probed]
    state.visited.probe(probes)
    before = _read(state, places[is_probed], grain, _ALL) if is_probed.any() else _EMPTY
    passed = _passed_before(state, before)
    left = max(state.search.question.max_edges - state.rows, 0)
    fresh = _read(state, probes, grain, max(left - len(passed.near), 0))
    rows, unread = _concatenated(passed, fresh), _NONE
    if len(rows.near) > left:
        unread = _unread(state, pairs, rows.near[left:], probes)
        rows = _Rows(*(one[:left] for one in rows))
    return _accepted(state, _Found(pairs, rows, _concatenated(before, fresh), unread), grain)


def _probes_of(edges: Adjacency, nodes: Ints, grain: Grain) -> _Pairs:
    """The nodes to probe: a field probes at its names and its dataset's, a dataset at field grain at its names and
    fields.
    """
    which, probes = edges.members(nodes)
    if grain is not Grain.FIELD:
        return _Pairs(nodes[which], probes)
    kinds = edges.kinds(nodes)
    fields, wholes = np.flatnonzero(kinds == Kind.FIELD), np.flatnonzero(kinds == Kind.DATASET)
    of_field, above = edges.members(edges.datasets(nodes[fields]))
    own, names = edges.members(nodes[wholes])
    inner, within = edges.fields(names)
    which = np.concatenate([which, fields[of_field], wholes[own[inner]]])
    probes = np.concatenate([probes, above, within])
    order = np.argsort(which, kind="stable")
    return _Pairs(nodes[which[order]], probes[order])


def _read(state: _State, probes: Ints, grain: Grain, limit: int) -> _Rows:
    which, far, owner, rank, key = state.search.adjacency.edges(probes, state.search.direction, grain, limit)
    state.visited.fit(state.search.adjacency.count)
    return _Rows(probes[which], far, owner, rank, key)


def _passed_before(state: _State, before: _Rows) -> _Rows:
    ends = _pick(before, state.search.adjacency.kinds(before.far) == Kind.JOB)
    return _pick(ends, np.array([key in state.passed for key in ends.key.tolist()], bool))


def _unread(state: _State, pairs: _Pairs, cut: Ints, probes: Ints) -> Ints:
    """The probing nodes whose edges were cut off, given the near ends `cut`: edges are sorted by probe."""
    if not state.search.adjacency.has_all_fields:
        raise TooManyEdges
    is_cut = state.visited.among(probes, cut)
    first = int(np.argmax(is_cut)) if is_cut.any() else len(probes)
    return distinct(pairs.node[state.visited.among(pairs.probe, np.concatenate([cut, probes[first:]]))])


def _accepted(state: _State, found: _Found, grain: Grain) -> _Found:
    """The edges without those that the question excludes, and without those to jobs that derive an edge at
    every asker.
    """
    rows, ends = found.rows, _ends(state, found.rows)
    if len(ends):
        row, _ = _takers_of_ends(state, found, rows, ends)
        is_passed = np.zeros(len(rows.near), bool)
        is_passed[ends] = np.bincount(row, minlength=len(ends)) == 0
        if grain is Grain.FIELD:  # at other grains, no two nodes probe the same node
            state.passed |= set(rows.key[is_passed].tolist())
        rows = _pick(rows, ~is_passed)
    rows = _pick(rows, _is_of_type(rows, state.search.types))
    if state.search.accept is not None:
        rows = _pick(rows, state.search.accept(rows.owner, _far_ends(state.search.adjacency, rows, grain)))
    return found._replace(rows=rows)


def _is_of_type(rows: _Rows, types: frozenset[str]) -> NDArray[np.bool_]:
    kept = np.ones(len(rows.near), bool)
    for type_, code in _DIRECTNESS.items():
        if type_ not in types:
            kept &= rows.rank & ~1 != code
    return kept


def _ends(state: _State, rows: _Rows) -> Ints:
    """Which edges lead to a job, where the search ends."""
    return np.flatnonzero((state.search.adjacency.kinds(rows.far) == Kind.JOB) & (rows.far != state.search.kept_job))


def _all_takers(state: _State, found: _Found, rows: _Rows) -> Ints:
    """The nodes that follow one of these edges."""
    ends = _ends(state, rows)
    takers = found.pairs.node[state.visited.among(found.pairs.probe, np.delete(rows.near, ends))]
    return joined([takers, _takers_of_ends(state, found, rows, ends)[1]] if len(ends) else [takers])


def _first_takers(state: _State, found: _Found, rows: _Rows) -> Ints:
    """The node that follows each edge: askers are sorted by id, and the first has the least."""
    takers = found.pairs.node[state.visited.first(found.pairs.probe)[rows.near]]
    if len(ends := _ends(state, rows)):
        row, taker = _takers_of_ends(state, found, rows, ends)
        takers[ends] = taker[np.searchsorted(row, np.arange(len(ends)))]
    return takers


def _takers_of_ends(state: _State, found: _Found, rows: _Rows, ends: Ints) -> tuple[Ints, Ints]:
    """Pairs (index of the end, asker), without those where the job derives an edge at the asker, or may derive one,
    since not all edges were read.
    """
    row, node = _probing_nodes(state, rows.near[ends], found.pairs)
    mine = state.visited.among(found.pairs.node, node)
    derived = _derived(state, _Pairs(found.pairs.node[mine], found.pairs.probe[mine]), found.read)
    derives = contains(derived, node * state.visited.count + rows.far[ends][row])
    kept = ~(derives | contains(found.unread, node))
    return row[kept], node[kept]


def _derived(state: _State, pairs: _Pairs, read: _Rows) -> Ints:
    """(asker, owner of an edge there that does not end at a job), encoded as one number each."""
    is_there = state.visited.among(read.near, pairs.probe) & (state.search.adjacency.kinds(read.far) != Kind.JOB)
    rows = _pick(read, is_there)
    row, node = _probing_nodes(state, rows.near, pairs)
    return distinct(node * state.visited.count + rows.owner[row])


def _probing_nodes(state: _State, places: Ints, pairs: _Pairs) -> tuple[Ints, Ints]:
    """The nodes that probe at each of the places: (index of the place, asker)."""
    first = state.visited.first(pairs.probe)
    if (first[pairs.probe] == np.arange(len(pairs.probe))).all():  # no two nodes probe the same node
        return np.arange(len(places)), pairs.node[first[places]]
    return _join(places, pairs.probe, pairs.node)


def _join(left: Ints, right: Ints, values: Ints) -> tuple[Ints, Ints]:
    """For each of `left`, the values at the same key on the right: (index on the left, value)."""
    order = np.argsort(right, kind="stable")
    low, high = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
    counts = high - low
    ends = np.cumsum(counts)
    places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(low - (ends - counts), counts)
    return np.repeat(np.arange(len(left)), counts), values[order][places]


def _follow_edges(state: _State, found: _Found, grain: Grain, depth: int) -> None:
    """Follow edges in order and reach their far ends, within the budget of nodes."""
    edges, rows = state.search.adjacency, found.rows
    far = _far_ends(edges, rows, grain)
    new = state.visited.once(far[state.visited.distances(far) < 0])
    left = max(state.search.question.max_nodes - state.reached, 0)
    if len(new) > left:
        out = state.visited.among(far, new[left:])
        state.stopped_by = "nodes"
        state.unfinished.append(_all_takers(state, found, _pick(rows, out)))
        rows, far = _pick(rows, ~out), far[~out]
        new = new[:left]
    state.visited.reach(new, depth)
    state.reached += len(new)
    state.rows += len(far)
    state.accepted |= set(rows.key[edges.kinds(rows.far) == Kind.JOB].tolist())
    parent = _first_takers(state, found, rows)
    state.taken.append(TakenEdges(edges.canonical(rows.near), far, rows.owner, rows.rank, parent, rows.key, depth))


def _far_ends(edges: Adjacency, rows: _Rows, grain: Grain) -> Ints:
    """The canonical nodes that edges lead to: at job grain, whole datasets."""
    if grain is not Grain.JOB:
        return edges.canonical(rows.far)
    whole = edges.datasets(rows.far)
    return edges.canonical(np.where(whole >= 0, whole, rows.far))


_EMPTY = _Rows(*[_NONE] * len(_Rows._fields))


def _concatenated(one: _Rows, other: _Rows) -> _Rows:
    if not len(one.near):
        return other
    return _Rows(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))


def _pick(rows: _Rows, which: NDArray[np.bool_] | Sequence[bool]) -> _Rows:
    if np.all(which):
        return rows
    places = np.flatnonzero(which)
    return _Rows(*(one[places] for one in rows))
