"""What the arrays of the edges (`store.csr`) are made of, as columns: when sets of owners held, and their edges."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import BigInteger, Connection, Select, bindparam, case, select

from whence.model.graph import EVER
from whence.store.arrays import given, giving
from whence.store.csr import Ints, spread
from whence.store.tables import FOREVER, lineage_edge, span, version

FETCHED = 100_000
"""Rows read at a time."""

MOST_PAST = 1_000_000
"""So many edges of the past are in the arrays in any case; else twice as many as hold now, those that held last."""

_STREAMED = {"stream_results": True, "max_row_buffer": FETCHED}

_HELD = (
    span.c.owner_id,
    span.c.aspect,
    version.c.set_id,
    case((span.c.confirmed, 0), else_=1),
    span.c.valid_from,
    span.c.valid_to,
)
_SAID = (
    lineage_edge.c.set_id,
    lineage_edge.c.ordinal,
    lineage_edge.c.source_id,
    lineage_edge.c.target_id,
    lineage_edge.c.source_dataset_id,
    lineage_edge.c.target_dataset_id,
    case((lineage_edge.c.type == "DIRECT", 0), (lineage_edge.c.type == "INDIRECT", 4), else_=2),
)


class Held(NamedTuple):
    """When sets of owners held, without a break, as columns. `unconfirmed`: 0 or 1."""

    owner: Ints
    set_id: Ints
    unconfirmed: Ints
    since: Ints
    until: Ints


class Flat(NamedTuple):
    """Edges as columns of ids, in any order. `held` is the place of each edge's set."""

    source: Ints
    target: Ints
    source_dataset: Ints
    target_dataset: Ints
    owner: Ints
    held: Ints
    ordinal: Ints
    rank: Ints


def read_recent(connection: Connection) -> tuple[Held, Flat, int]:
    """All that holds; of what held before as much as there is room for; and since when nothing is left out. About 60
    bytes of memory an edge that was ever said, while it works.
    """
    held, edges = _held(_rows(connection, _HELD_QUERY)), _sorted(_rows(connection, select(*_SAID)))
    sizes, now = _sizes(held, edges), held.until == FOREVER
    order = np.argsort(-held.until)
    out = order[np.cumsum(np.where(now, 0, sizes)[order]) > max(MOST_PAST, 2 * int(sizes[now].sum()))]
    known_since = int(held.until[out].max()) if len(out) else EVER
    kept = Held(*(one[held.until > known_since] for one in held))
    return kept, _flat(kept, edges), known_since


def read_owned(connection: Connection, owners: Sequence[int], at: int | None) -> tuple[Held, Flat]:
    """What some owners say now, or said at a time: as if it held now."""
    dialect = connection.dialect.name
    wanted = giving(dialect, ("id",), [(one,) for one in owners]) | {"at": FOREVER - 1 if at is None else at}
    held = _held(_rows(connection, _owned_statement(dialect), wanted))
    held = held._replace(until=np.full(len(held.until), FOREVER))
    sets = giving(dialect, ("id",), [(one,) for one in np.unique(held.set_id).tolist()])
    return held, _flat(held, _sorted(_rows(connection, _said_statement(dialect), sets)))


_HELD_QUERY = select(*_HELD).join_from(span, version, version.c.id == span.c.version)


@lru_cache
def _owned_statement(dialect: str) -> Select[Any]:
    at = bindparam("at", type_=BigInteger)
    theirs = span.c.owner_id.in_(select(given(dialect, "id").c.id))
    return _HELD_QUERY.where(theirs, span.c.valid_from <= at, span.c.valid_to > at)


@lru_cache
def _said_statement(dialect: str) -> Select[Any]:
    return select(*_SAID).where(lineage_edge.c.set_id.in_(select(given(dialect, "id").c.id)))


def _held(rows: Ints) -> Held:
    """Spans that follow each other are one: another set of the same owner began or ended between them."""
    owner, aspect, set_id, unconfirmed, since, until = rows[np.lexsort(rows.T[[4, 3, 2, 1, 0]])].T
    same = [one[1:] == one[:-1] for one in (owner, aspect, set_id, unconfirmed)]
    first = np.ones(len(owner), bool)
    first[1:] = ~np.logical_and.reduce([*same, since[1:] == until[:-1]])
    last = np.roll(first, -1)
    return Held(owner[first], set_id[first], unconfirmed[first], since[first], until[last])


def _sorted(edges: Ints) -> Ints:
    return edges[np.lexsort(edges.T[[1, 0]])]


def _sizes(held: Held, edges: Ints) -> Ints:
    """How many edges each set has."""
    begin, end = (np.searchsorted(edges[:, 0], held.set_id, side) for side in ("left", "right"))
    return end - begin


def _flat(held: Held, edges: Ints) -> Flat:
    """All edges of sets; `edges` are `_sorted`."""
    sizes = _sizes(held, edges)
    which = np.repeat(np.arange(len(sizes)), sizes)
    said = edges[spread(np.searchsorted(edges[:, 0], held.set_id), sizes)]
    _, ordinal, source, target, source_dataset, target_dataset, rank = np.ascontiguousarray(said.T)
    rank += held.unconfirmed[which]
    return Flat(source, target, source_dataset, target_dataset, held.owner[which], which, ordinal, rank)


def _rows(connection: Connection, query: Select[Any], values: Mapping[str, Any] | None = None) -> Ints:
    """Rows of integers."""
    streamed = connection.execute(query, values or {}, execution_options=_STREAMED)
    width = len(query.selected_columns)
    parts = [
        np.array(list(chain.from_iterable(chunk)), np.int64).reshape(-1, width)
        for chunk in streamed.partitions(FETCHED)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, width), np.int64)
