"""The rows that adjacency arrays (`store.adjacency.csr`) are built from, as columns: validity intervals and edges."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import BigInteger, Connection, Select, and_, bindparam, case, func, select

from whence.model.graph import ALL_TIME
from whence.store.adjacency.csr import Ints, spread
from whence.store.ingest.retention_summary import forgotten_history
from whence.store.ingest.statements import Aspect
from whence.store.schema.array_parameters import given, giving
from whence.store.schema.tables import FOREVER, lineage_edge, lineage_version, validity_interval

FETCHED = 100_000
"""Rows fetched at a time."""

MOST_PAST = 1_000_000
"""The least number of past edges in the arrays; they have up to twice as many past edges as current ones."""

TOGETHER = 10_000
"""Sets in one query."""

_HELD = (
    validity_interval.c.owner_id,
    validity_interval.c.aspect,
    lineage_version.c.set_id,
    case((validity_interval.c.confirmed, 0), else_=1),
    validity_interval.c.valid_from,
    validity_interval.c.valid_to,
)
_EDGE_COLUMNS = (
    lineage_edge.c.set_id,
    lineage_edge.c.ordinal,
    lineage_edge.c.source_id,
    lineage_edge.c.target_id,
    lineage_edge.c.source_dataset_id,
    lineage_edge.c.target_dataset_id,
    case((lineage_edge.c.type == "DIRECT", 0), (lineage_edge.c.type == "INDIRECT", 4), else_=2),
)


class Held(NamedTuple):
    """Validity intervals of lineage sets, without gaps, as columns. `unconfirmed` is 0 or 1."""

    owner: Ints
    set_id: Ints
    unconfirmed: Ints
    since: Ints
    until: Ints


class Flat(NamedTuple):
    """Edges as columns of ids, in any order. `held` is the index of the validity interval."""

    source: Ints
    target: Ints
    source_dataset: Ints
    target_dataset: Ints
    owner: Ints
    held: Ints
    ordinal: Ints
    rank: Ints


def read_recent(connection: Connection) -> tuple[Held, Flat, int]:
    """Read all current edges, and the most recent past ones up to the limit; also the time since which none is missing.

    Uses about 100 bytes of memory for each interval of each set while it reads, and as much for each edge.
    """
    held = _held(_rows(connection, _HELD_QUERY))
    sizes = _sizes(held, _rows(connection, _SIZES))
    now, order = held.until == FOREVER, np.argsort(-held.until)
    out = order[np.cumsum(np.where(now, 0, sizes)[order]) > max(MOST_PAST, 2 * int(sizes[now].sum()))]
    forgotten = forgotten_history(connection)
    known_since = max([*held.until[out].tolist(), ALL_TIME if forgotten is None else forgotten])
    kept = Held(*(one[held.until > known_since] for one in held))
    edges = _edges(connection, np.unique(kept.set_id), is_most=2 * len(kept.owner) > len(held.owner))
    return kept, _flat(kept, edges), known_since


def read_owned(connection: Connection, owners: Sequence[int], at: int | None) -> tuple[Held, Flat]:
    """Read the edges that some owners assert now, or asserted at a time."""
    dialect = connection.dialect.name
    pairs = giving(dialect, _OWNED, [(owner, aspect) for owner in owners for aspect in Aspect])
    held = _held(_rows(connection, _owned_statement(dialect), pairs | {"at": FOREVER - 1 if at is None else at}))
    held = held._replace(until=np.full(len(held.until), FOREVER))
    return held, _flat(held, _edges(connection, np.unique(held.set_id), is_most=False))


_HELD_QUERY = select(*_HELD).join_from(
    validity_interval, lineage_version, lineage_version.c.id == validity_interval.c.version
)


_SIZES = select(lineage_edge.c.set_id, func.count()).group_by(lineage_edge.c.set_id).order_by(lineage_edge.c.set_id)
_OWNED = ("owner_id", "aspect")


@lru_cache
def _owned_statement(dialect: str) -> Select[Any]:
    """One index step for each owner and aspect: a job may have an interval for each day of many years."""
    at, wanted, earlier = bindparam("at", type_=BigInteger), given(dialect, *_OWNED), validity_interval.alias()
    same_owner = [earlier.c[name] == wanted.c[name] for name in _OWNED]
    last = select(func.max(earlier.c.valid_from)).where(*same_owner, earlier.c.valid_from <= at).correlate(wanted)
    owned = [validity_interval.c[name] == wanted.c[name] for name in _OWNED]
    found = and_(*owned, validity_interval.c.valid_from == last.scalar_subquery(), validity_interval.c.valid_to > at)
    return (
        select(*_HELD)
        .join_from(wanted, validity_interval, found)
        .join(lineage_version, lineage_version.c.id == validity_interval.c.version)
    )


@lru_cache
def _edges_statement(dialect: str) -> Select[Any]:
    return select(*_EDGE_COLUMNS).where(lineage_edge.c.set_id.in_(select(given(dialect, "id").c.id)))


def _held(rows: Ints) -> Held:
    """Merge adjacent intervals of a set: another set of the same owner changed between them."""
    owner, aspect, set_id, unconfirmed, since, until = rows[np.lexsort(rows.T[[4, 3, 2, 1, 0]])].T
    same = [one[1:] == one[:-1] for one in (owner, aspect, set_id, unconfirmed)]
    first = np.ones(len(owner), bool)
    first[1:] = ~np.logical_and.reduce([*same, since[1:] == until[:-1]])
    last = np.roll(first, -1)
    return Held(owner[first], set_id[first], unconfirmed[first], since[first], until[last])


def _sizes(held: Held, counted: Ints) -> Ints:
    """The number of edges of each set; `counted` has them by set."""
    set_id, size = counted.T if len(counted) else np.zeros((2, 1), np.int64)
    at = np.minimum(np.searchsorted(set_id, held.set_id), len(set_id) - 1)
    return np.where(set_id[at] == held.set_id, size[at], 0)


def _edges(connection: Connection, sets: Ints, *, is_most: bool) -> Ints:
    """Read the edges of sets, sorted by set and ordinal. If these are most sets (`is_most`), others may be included."""
    if is_most:
        edges = _rows(connection, select(*_EDGE_COLUMNS))
    else:
        dialect = connection.dialect.name
        chunks = [sets[start : start + TOGETHER].tolist() for start in range(0, len(sets), TOGETHER)]
        batches = (giving(dialect, ("id",), [(one,) for one in chunk]) for chunk in chunks)
        read = [_rows(connection, _edges_statement(dialect), values) for values in batches]
        edges = np.concatenate([np.zeros((0, len(_EDGE_COLUMNS)), np.int64), *read])
    return edges[np.lexsort(edges.T[[1, 0]])]


def _flat(held: Held, edges: Ints) -> Flat:
    """All edges of the intervals; `edges` are sorted by set."""
    begin, end = (np.searchsorted(edges[:, 0], held.set_id, side) for side in ("left", "right"))
    which = np.repeat(np.arange(len(begin)), end - begin)
    expanded = edges[spread(begin, end - begin)]
    _, ordinal, source, target, source_dataset, target_dataset, rank = np.ascontiguousarray(expanded.T)
    rank += held.unconfirmed[which]
    return Flat(source, target, source_dataset, target_dataset, held.owner[which], which, ordinal, rank)


def _rows(connection: Connection, query: Select[Any], values: Mapping[str, Any] | None = None) -> Ints:
    """Fetch rows of integers. A query without parameters returns many."""
    options = {"stream_results": True, "max_row_buffer": FETCHED} if values is None else {}
    found = connection.execute(query, values or {}, execution_options=options)
    width = len(query.selected_columns)
    parts = [
        np.array(list(chain.from_iterable(chunk)), np.int64).reshape(-1, width) for chunk in found.partitions(FETCHED)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, width), np.int64)
