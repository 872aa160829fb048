"""The edges as arrays, exactly as one transaction sees them: the file (`store.adjacency.csr`), overlaid with the
changes since its build, which are read from the tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, and_, select

from whence.model.graph import Direction, EdgeRow, Grain
from whence.model.ids import Kind
from whence.model.traits import Traits
from whence.store.adjacency.build import KIND_BITS, build_owned
from whence.store.adjacency.csr import Csr, Ints, Places, spread
from whence.store.adjacency.node_attributes import read_class
from whence.store.graph.edges import opened
from whence.store.ingest.change_log import GROUP, OWNER, TRAITS, ChangeVersion, changed_since, is_known
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.tables import FOREVER, lineage_edge, lineage_set

MOST_CHANGED = 2_000
"""The most owners whose changed edges are read again for one change version; beyond it, queries use the tables."""
MOST_CHANGED_THEN = 100
"""The same limit for one query about the past."""


class Edges(NamedTuple):
    """Edges at some nodes: the index of the probe, then the members of `query.ports.graph.Adjacency.edges`."""

    which: Ints
    far: Ints
    owner: Ints
    rank: Ints
    key: Ints


KEY = ("set_id", "ordinal", "unconfirmed")


@dataclass(frozen=True, slots=True)
class Newer:
    """Edges that are newer than those of the file. Their nodes have indices of their own; `place` maps them to the
    indices of all nodes.
    """

    csr: Csr
    owners: Sequence[int]
    """The owners of these edges."""
    place: Ints
    extra: Ints
    """The ids of nodes that the file lacks; their indices follow those of the file."""
    replaced: NDArray[np.bool_]
    """By index in the file: owners whose edges in the file are replaced."""
    own: Ints
    """`place` sorted, and in `by_own` the original index of each."""
    by_own: Ints


@dataclass(frozen=True, slots=True)
class StoreAdjacency:
    """`query.ports.graph.Adjacency` over one snapshot of a store."""

    connection: Connection | None
    """None if `rows` is not available."""
    csr: Csr
    newer: Newer | None = None
    stale: NDArray[np.bool_] | None = None
    """By index in the file: datasets and jobs with changed traits, or None if there are none."""
    at: int | None = None
    """The time (µs) that the edges are valid at, or None for now."""

    def as_of(self, at: int) -> "StoreAdjacency | None":
        """The edges at a time, or None if some of them are missing here."""
        if at < self.csr.known_since[0]:
            return None
        if self.newer is None:
            return replace(self, at=at)
        if len(self.newer.owners) > MOST_CHANGED_THEN:
            return None
        assert self.connection is not None
        newer = _newer(self.connection, self.csr, self.newer.owners, at)
        return None if newer is None else replace(self, at=at, newer=newer)

    @property
    def count(self) -> int:
        """The number of nodes."""
        return len(self.csr.ids) + (0 if self.newer is None else len(self.newer.extra))

    @property
    def has_all_fields(self) -> bool:
        """False: a field without an edge is missing."""
        return False

    def ids(self, places: Ints) -> Ints:
        """The ids of nodes."""
        known = len(self.csr.ids)
        if self.newer is None or not len(self.newer.extra):
            return self.csr.ids[places]
        found = self.csr.ids[np.minimum(places, known - 1)]
        new = places >= known
        found[new] = self.newer.extra[places[new] - known]
        return found

    def canonical_ids(self, places: Ints) -> Ints:
        """The same as `ids`."""
        return self.ids(places)

    def kinds(self, places: Ints) -> NDArray[np.int8]:
        """The `Kind` of each node: the lowest bits of its id."""
        known = len(self.csr.ids)
        if self.newer is None or not len(self.newer.extra):
            return self.csr.kind[places]
        found = self.csr.kind[np.minimum(places, known - 1)]
        new = places >= known
        found[new] = self.newer.extra[places[new] - known] & KIND_BITS
        return found

    def place(self, id_: int) -> int:
        """The index of a node, or -1 if it has no edge."""
        found = _find(self.csr.ids, id_)
        if found < 0 and self.newer is not None and (new := _find(self.newer.extra, id_)) >= 0:
            return len(self.csr.ids) + new
        return found

    def canonical(self, places: Ints) -> Ints:
        """The representative of each node."""
        return self._with_newer(self.csr.canonical, None, places)

    def datasets(self, places: Ints) -> Ints:
        """The dataset of each dataset or field; -1 for a job."""
        return self._with_newer(self.csr.dataset, "dataset", places)

    def is_grouped(self, places: Ints) -> NDArray[np.bool_]:
        """Which canonical nodes have aliases."""
        return np.isin(places, self.csr.grouped)

    def by_name(self, places: Ints) -> Ints:
        """The rank of each node's name among all names; -1 if the node is newer than the file."""
        return self._of_file(self.csr.by_name, places, -1)

    def classes(self, places: Ints) -> Ints:
        """The class of each canonical dataset or job, for `traits`; -1: no traits, -2: not in the file."""
        found = self._of_file(self.csr.trait, places, -2)
        if self.stale is not None:
            found[self._of_file(self.stale, places, 1) != 0] = -2
        return found

    def traits(self, class_: int) -> Traits:
        """The traits of a class, without tags."""
        start, end = self.csr.trait_start[class_ : class_ + 2].tolist()
        return read_class(self.csr.trait_text[start:end].tobytes())

    def members(self, places: Ints) -> tuple[Ints, Ints]:
        """All names of canonical nodes, the representative first: (index of the node, name)."""
        csr = self.csr
        if not len(csr.grouped):
            return np.arange(len(places)), places
        at = np.minimum(np.searchsorted(csr.grouped, places), len(csr.grouped) - 1)
        several = csr.grouped[at] == places
        counts = np.where(several, csr.member_start[at + 1] - csr.member_start[at], 1)
        which = np.repeat(np.arange(len(places)), counts)
        found = places[which]
        named = several[which]
        found[named] = csr.member[spread(csr.member_start[at[several]], counts[several])]
        return which, found

    def fields(self, places: Ints) -> tuple[Ints, Ints]:
        """The fields of datasets that have an edge, by id: (index of the dataset, field)."""
        which, found = _runs(self.csr.field_start, self.csr.field_start[1:], places)
        found = self.csr.field[found].astype(np.int64)
        if self.newer is None:
            return which, found
        more_which, more = self._newer_fields(places)
        which, found = np.concatenate([which, more_which]), np.concatenate([found, more])
        order = np.lexsort((self.ids(found), which))
        distinct = np.ones(len(order), bool)
        distinct[1:] = (np.diff(which[order]) != 0) | (np.diff(found[order]) != 0)
        return which[order][distinct], found[order][distinct]

    def edges(self, probes: Ints, direction: Direction, grain: Grain, limit: int) -> Edges:
        """All edges at nodes, sorted by node and then as in the tables: (index of the probe, far end, owner, rank, key
        for `rows`). `limit` is ignored, since it would save nothing.
        """
        down = direction is Direction.DOWNSTREAM
        found = _edges_at(self.csr, probes, down, self.at)
        if self.newer is not None:
            void = self.newer.replaced[found.owner]
            pairs = zip(found, self._newer_edges(probes, down), strict=True)
            found = Edges(*(np.concatenate((one[~void], more)) for one, more in pairs))
        if grain is not Grain.JOB:
            is_fine = (self.kinds(probes)[found.which] == Kind.FIELD) | (self.kinds(found.far) == Kind.FIELD)
            found = Edges(*(one[is_fine == (grain is Grain.FIELD)] for one in found))
        return found if self._is_ordered(found.key) else self._ordered(found)

    def rows(self, keys: Ints, direction: Direction) -> Sequence[EdgeRow]:
        """The complete rows of edges from the tables, in any order."""
        wanted = list(zip(*(part.tolist() for part in self._keys(keys)), strict=True))
        assert self.connection is not None
        dialect = self.connection.dialect.name
        found = self.connection.execute(_rows_statement(dialect, direction), giving(dialect, KEY, wanted))
        return opened(self.connection, map(EdgeRow._make, found.all()))

    def _is_ordered(self, keys: Ints) -> bool:
        """Whether all edges are current ones of the file, which are already sorted."""
        if len(keys) and keys[-1] < 0:
            return False
        return self.at is None or bool((self.csr.until[self.csr.held[keys]] == FOREVER).all())

    def _ordered(self, edges: Edges) -> Edges:
        set_id, ordinal, _ = self._keys(edges.key)
        order = np.lexsort((ordinal, set_id, self.ids(edges.owner), self.ids(edges.far), edges.which))
        return Edges(*(one[order] for one in edges))

    def _keys(self, keys: Ints) -> tuple[Ints, Ints, Ints]:
        """Set, ordinal and 1 for unconfirmed, of edges. Keys of newer edges are negative, from -1 down."""
        new = keys < 0
        parts = [(~new, _key(self.csr, keys[~new]))]
        if self.newer is not None and new.any():
            parts.append((new, _key(self.newer.csr, -keys[new] - 1)))
        found = np.zeros((len(KEY), len(keys)), np.int64)
        for which, columns in parts:
            found[:, which] = columns
        return found[0], found[1], found[2]

    def _of_file(self, column: NDArray[Any], places: Ints, other: int) -> Ints:
        known = len(self.csr.ids)
        inside = np.minimum(places, max(known - 1, 0))
        return np.where(places < known, column[inside], other) if known else np.full(len(places), other, np.int64)

    def _with_newer(self, column: Places, newer: str | None, places: Ints) -> Ints:
        known = len(self.csr.ids)
        if self.newer is None or not len(self.newer.extra):
            return column[places].astype(np.int64)
        found = column[np.minimum(places, known - 1)].astype(np.int64)
        new = places >= known
        found[new] = places[new] if newer is None else self._newer_datasets(places[new])
        return found

    def _newer_datasets(self, places: Ints) -> Ints:
        assert self.newer is not None
        own = self.newer.csr.dataset[self._newer_indices(places)].astype(np.int64)
        return np.where(own < 0, -1, self.newer.place[own])

    def _newer_indices(self, places: Ints) -> Ints:
        """The indices of nodes among those of the newer edges; -1 for other nodes."""
        assert self.newer is not None
        if not len(self.newer.own):
            return np.full(len(places), -1, np.int64)
        at = np.minimum(np.searchsorted(self.newer.own, places), len(self.newer.own) - 1)
        return np.where(self.newer.own[at] == places, self.newer.by_own[at], -1)

    def _newer_fields(self, places: Ints) -> tuple[Ints, Ints]:
        assert self.newer is not None
        own = self._newer_indices(places)
        which = np.flatnonzero(own >= 0)
        start = self.newer.csr.field_start
        inner, found = _runs(start, start[1:], own[which])
        return which[inner], self.newer.place[self.newer.csr.field[found]]

    def _newer_edges(self, probes: Ints, down: bool) -> Edges:
        assert self.newer is not None
        own = self._newer_indices(probes)
        known = np.flatnonzero(own >= 0)
        found = _edges_at(self.newer.csr, own[known], down, None)
        place = self.newer.place
        return Edges(known[found.which], place[found.far], place[found.owner], found.rank, -found.key - 1)


def lay_over(connection: Connection, version: ChangeVersion, csr: Csr) -> StoreAdjacency | None:
    """Overlay a file with later changes. Returns None if it is of another store, or too much has changed since."""
    if not is_known(connection, version):
        return None
    changed = changed_since(connection, version, (OWNER, GROUP), MOST_CHANGED + 1)
    if len(changed) > MOST_CHANGED or any(kind != OWNER for kind, _ in changed):
        return None
    stale = _stale(connection, version, csr)
    if not changed:
        return StoreAdjacency(connection, csr, stale=stale)
    newer = _newer(connection, csr, [id_ for _, id_ in changed], None) if len(csr.ids) else None
    return None if newer is None else StoreAdjacency(connection, csr, newer, stale)


def _stale(connection: Connection, version: ChangeVersion, csr: Csr) -> NDArray[np.bool_] | None:
    changed = changed_since(connection, version, [TRAITS], MOST_CHANGED + 1)
    if not changed:
        return None
    if len(changed) > MOST_CHANGED:
        return np.ones(len(csr.ids), bool)
    stale = np.zeros(len(csr.ids), bool)
    known = _find_all(csr.ids, np.array([id_ for _, id_ in changed], np.int64))
    stale[csr.canonical[known[known >= 0]]] = True
    return stale


def _key(csr: Csr, at: Ints) -> NDArray[np.int64]:
    columns = (csr.set_id[csr.held[at]], csr.ordinal[at], csr.rank[at] & 1)
    return np.stack([one.astype(np.int64) for one in columns])


def _newer(connection: Connection, csr: Csr, owners: Sequence[int], at: int | None) -> Newer | None:
    over = build_owned(connection, owners, at)
    old = _find_all(csr.ids, over.ids)
    extra = over.ids[old < 0]
    place = old.copy()
    place[old < 0] = len(csr.ids) + np.arange(len(extra))
    if _is_of_group(csr, over, old):
        return None
    replaced = np.zeros(len(csr.ids), bool)
    known = _find_all(csr.ids, np.array(sorted(owners), np.int64))
    replaced[known[known >= 0]] = True
    by_own = np.argsort(place)
    return Newer(csr=over, owners=owners, place=place, extra=extra, replaced=replaced, own=place[by_own], by_own=by_own)


def _is_of_group(csr: Csr, over: Csr, old: Ints) -> bool:
    """Whether a new field belongs to a dataset with aliases, whose members are not known here."""
    inside = over.dataset[(old < 0) & (over.dataset >= 0)]
    wholes = old[inside]
    wholes = wholes[wholes >= 0]
    return bool(len(csr.grouped)) and bool(np.isin(csr.canonical[wholes], csr.grouped).any())


@lru_cache
def _rows_statement(dialect: str, direction: Direction) -> Select[Any]:
    wanted = given(dialect, *KEY)
    near, far = ("target", "source") if direction is Direction.UPSTREAM else ("source", "target")
    ends = [lineage_edge.c[name] for name in (f"{near}_id", f"{far}_id", f"{near}_dataset_id", f"{far}_dataset_id")]
    content = [lineage_edge.c[name] for name in ("set_id", "type", "subtype", "masking", "description")]
    same_edge = and_(lineage_edge.c.set_id == wanted.c.set_id, lineage_edge.c.ordinal == wanted.c.ordinal)
    columns = (*ends, lineage_set.c.owner_id, *content, lineage_set.c.origin, wanted.c.unconfirmed == 0)
    return (
        select(*columns)
        .join_from(wanted, lineage_edge, same_edge)
        .join(lineage_set, lineage_set.c.id == wanted.c.set_id)
    )


def _edges_at(csr: Csr, places: Ints, down: bool, at: int | None) -> Edges:
    """The edges of the file at nodes, now or at a time."""
    start, now = (csr.down_start, csr.down_now) if down else (csr.up_start, csr.up_now)
    which, found = _runs(start, now if at is None else start[1:], places)
    key = found if down else csr.up_edge[found].astype(np.int64)
    if at is not None:
        held = csr.held[key]
        holds = (csr.since[held] <= at) & (at < csr.until[held])
        which, key = which[holds], key[holds]
    far = (csr.target if down else csr.source)[key]
    owner, rank = csr.owner[key].astype(np.int64), csr.rank[key].astype(np.int64)
    return Edges(which, far.astype(np.int64), owner, rank, key)


def _runs(starts: Ints, ends: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Expand several runs: (index of the run, index in it). A run without an end is empty."""
    inside = np.flatnonzero(places < len(ends))
    begin = starts[places[inside]]
    counts = ends[places[inside]] - begin
    return np.repeat(inside, counts), spread(begin, counts)


def _find(ids: Ints, id_: int) -> int:
    at = int(np.searchsorted(ids, id_))
    return at if at < len(ids) and ids[at] == id_ else -1


def _find_all(ids: Ints, wanted: Ints) -> Ints:
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, at, -1)
