"""The change log of the edges and of the facets of their ends: a version number that grows with every change, and the
version in which each of them changed last.

So a copy of them (`store.adjacency.csr`) can tell what to read again. Each version has a random stamp: a store that was
rebuilt, or restored from a backup, has other stamps under the same numbers.
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, Index, SmallInteger, Table, bindparam, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from whence.store.schema.columns import COMPACT, plain_column
from whence.store.schema.tables import metadata

change_version = Table(
    "change_version",
    metadata,
    plain_column("number", BigInteger, primary_key=True),
    plain_column("stamp", BigInteger),  # random: another store has others
)

change = Table(
    "change",
    metadata,
    plain_column("kind", SmallInteger, primary_key=True),  # what changed: OWNER, GROUP or TRAITS
    plain_column("id", BigInteger, primary_key=True),
    plain_column("version", BigInteger),  # the last in which it changed
    Index("change_version_of", "version"),
    **COMPACT,
)

KEPT = 10_000
"""Versions for which it is known what changed since."""

OWNER, GROUP, TRAITS = 0, 1, 2
"""What changed: the edges of an owner, now or in the past, the alias group of a dataset, or the facets of a
dataset or job (`model.traits`)."""

_OPEN = -1
"""The version of what the current transaction changed, until it ends."""
_ADVISORY = 0x77_68_65_64


class ChangeVersion(NamedTuple):
    """One state of the edges."""

    number: int
    stamp: int


def note_changes(connection: Connection, kind: int, ids: Iterable[int]) -> None:
    """Say that the edges of owners, or the groups or traits of what has these ids, are others now. For a
    transaction that ends with `close_change_version`.
    """
    rows = [{"kind": kind, "id": id_, "version": _OPEN} for id_ in sorted(set(ids))]
    if rows:
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        given = dialect.insert(change)
        upsert = given.on_conflict_do_update(index_elements=["kind", "id"], set_={"version": _OPEN})
        connection.execute(upsert, rows)


def close_change_version(connection: Connection) -> None:
    """Number what the transaction changed. Nothing may follow but its commit: in PostgreSQL others wait from here on,
    so that a reader of a version sees all versions before it.
    """
    if connection.execute(select(change.c.id).where(change.c.version == _OPEN).limit(1)).first() is None:
        return
    if connection.dialect.name != "sqlite":
        connection.execute(select(func.pg_advisory_xact_lock(_ADVISORY))).all()
    last = read_change_version(connection)
    number = 1 if last is None else last.number + 1
    connection.execute(change_version.insert(), {"number": number, "stamp": secrets.randbits(62)})
    connection.execute(update(change).where(change.c.version == _OPEN).values(version=number))
    connection.execute(delete(change_version).where(change_version.c.number <= number - KEPT))


_NEWEST = select(change_version.c.number, change_version.c.stamp).order_by(change_version.c.number.desc()).limit(1)
_STAMP = select(change_version.c.stamp).where(change_version.c.number == bindparam("number"))
_CHANGED = (
    select(change.c.kind, change.c.id)
    .where(change.c.version > bindparam("number"), change.c.kind.in_(bindparam("kinds", expanding=True)))
    .limit(bindparam("most"))
)


def read_change_version(connection: Connection) -> ChangeVersion | None:
    """Returns the newest change version that a transaction sees, or None if nothing has changed yet."""
    row = connection.execute(_NEWEST).first()
    return None if row is None else ChangeVersion(row.number, row.stamp)


def is_known(connection: Connection, one: ChangeVersion) -> bool:
    """Whether a version is one of this store, and recent enough to list what changed since."""
    return connection.execute(_STAMP, {"number": one.number}).scalar() == one.stamp


def changed_since(
    connection: Connection, one: ChangeVersion, kinds: Sequence[int], most: int
) -> Collection[tuple[int, int]]:
    """Returns at most `most` pairs (kind, id) of some kinds that changed after a version of this store."""
    rows = connection.execute(_CHANGED, {"number": one.number, "kinds": kinds, "most": most})
    return [(row.kind, row.id) for row in rows]
