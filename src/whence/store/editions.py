"""Editions of the edges, and of what is said of their ends: a number that grows whenever they change, and what
changed in which edition.

So a copy of them (`store.csr`) knows what to read anew. Each edition has a random stamp: a store that was rebuilt,
or restored from a backup, has other editions under the same numbers.
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from whence.store.tables import change, edition

KEPT = 10_000
"""Editions of which it is known what changed since."""

OWNER, GROUP, TRAITS = 0, 1, 2
"""What changed: the edges of an owner, now or in the past, the alias group of a dataset, or what facets say of a
dataset or job (`model.traits`)."""

_OPEN = -1
"""The edition of what the current transaction changed, until it ends."""
_ADVISORY = 0x77_68_65_64


class Edition(NamedTuple):
    """One state of the edges."""

    number: int
    stamp: int


def note_changes(connection: Connection, kind: int, ids: Iterable[int]) -> None:
    """Say that the edges of owners, or the groups or traits of what has these ids, are others now. For a
    transaction that ends with `close_edition`.
    """
    rows = [{"kind": kind, "id": id_, "edition": _OPEN} for id_ in sorted(set(ids))]
    if rows:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        given = dialect.insert(change)
        upsert = given.on_conflict_do_update(index_elements=["kind", "id"], set_={"edition": _OPEN})
        connection.execute(upsert, rows)


def close_edition(connection: Connection) -> None:
    """Number what the transaction changed. Nothing may follow but its commit: in PostgreSQL others wait from here on,
    so that who sees an edition sees all before it.
    """
    if connection.execute(select(change.c.id).where(change.c.edition == _OPEN).limit(1)).first() is None:
        return
    if connection.dialect.name != "sqlite":
        connection.execute(select(func.pg_advisory_xact_lock(_ADVISORY))).all()
    last = read_edition(connection)
    number = 1 if last is None else last.number + 1
    connection.execute(edition.insert(), {"number": number, "stamp": secrets.randbits(62)})
    connection.execute(update(change).where(change.c.edition == _OPEN).values(edition=number))
    connection.execute(delete(edition).where(edition.c.number <= number - KEPT))


_NEWEST = select(edition.c.number, edition.c.stamp).order_by(edition.c.number.desc()).limit(1)
_STAMP = select(edition.c.stamp).where(edition.c.number == bindparam("number"))
_CHANGED = (
    select(change.c.kind, change.c.id)
    .where(change.c.edition > bindparam("number"), change.c.kind.in_(bindparam("kinds", expanding=True)))
    .limit(bindparam("most"))
)


def read_edition(connection: Connection) -> Edition | None:
    """The edition that a transaction sees; None: nothing changed since the store has editions."""
    row = connection.execute(_NEWEST).first()
    return None if row is None else Edition(row.number, row.stamp)


def is_known(connection: Connection, one: Edition) -> bool:
    """Whether an edition is one of this store, not so old that nobody knows what changed since."""
    return connection.execute(_STAMP, {"number": one.number}).scalar() == one.stamp


def changed_since(connection: Connection, one: Edition, kinds: Sequence[int], most: int) -> Collection[tuple[int, int]]:
    """(kind, id) of what changed after an edition of this store, of some kinds, at most `most`."""
    rows = connection.execute(_CHANGED, {"number": one.number, "kinds": kinds, "most": most})
    return [(row.kind, row.id) for row in rows]
