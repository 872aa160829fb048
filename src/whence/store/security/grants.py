"""Grants and hidings by subject, and the revision, which grows with each change."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from whence.model.access import Grant, Hiding, Role
from whence.store.security.tables import grant, hiding, state

EVERYBODY = "*"
"""The subject of hidings that apply to everybody."""


@dataclass(frozen=True, slots=True)
class State:
    """The number of changes of access, and the installation's secret."""

    revision: int
    secret: bytes


def read_state(connection: Connection) -> State:
    """The current state."""
    row = connection.execute(select(state.c.revision, state.c.secret)).one()
    return State(row.revision, row.secret)


def make_state(connection: Connection) -> None:
    """Insert the first state with a new secret, for the migration that creates the table."""
    connection.execute(insert(state).values(id=0, revision=0, secret=secrets.token_bytes(32)))


def bump_revision(connection: Connection) -> None:
    """Record that access changed."""
    connection.execute(update(state).values(revision=state.c.revision + 1))


def read_grants(connection: Connection) -> Mapping[str, tuple[Grant, ...]]:
    """The grants of each subject."""
    found: dict[str, list[Grant]] = {}
    for row in connection.execute(select(grant).order_by(grant.c.subject, grant.c.namespaces)):
        found.setdefault(row.subject, []).append(Grant(Role(row.role), row.namespaces))
    return {subject: tuple(grants) for subject, grants in found.items()}


def read_hidings(connection: Connection) -> Mapping[str, tuple[Hiding, ...]]:
    """The fields hidden from each subject."""
    found: dict[str, list[Hiding]] = {}
    for row in connection.execute(select(hiding).order_by(*hiding.primary_key)):
        found.setdefault(row.subject, []).append(Hiding(row.namespaces, row.datasets, row.fields))
    return {subject: tuple(hidings) for subject, hidings in found.items()}


def add_grant(connection: Connection, subject: str, one: Grant) -> None:
    """Grant a subject a role in these namespaces, in place of the one that it had there."""
    remove_grant(connection, subject, one.namespaces)
    connection.execute(insert(grant).values(subject=subject, namespaces=one.namespaces, role=one.role))


def remove_grant(connection: Connection, subject: str, namespaces: str) -> int:
    """Remove a grant. Returns how many there were."""
    gone = delete(grant).where(grant.c.subject == subject, grant.c.namespaces == namespaces)
    bump_revision(connection)
    return connection.execute(gone).rowcount


def add_hidings(connection: Connection, subject: str, hidings: Iterable[Hiding]) -> None:
    """Hide fields from a subject."""
    for one in hidings:
        remove_hiding(connection, subject, one)
        values = {"namespaces": one.namespaces, "datasets": one.datasets, "fields": one.fields}
        connection.execute(insert(hiding).values(subject=subject, **values))


def remove_hiding(connection: Connection, subject: str, one: Hiding) -> int:
    """Remove a hiding. Returns how many there were."""
    where = (hiding.c.namespaces == one.namespaces, hiding.c.datasets == one.datasets, hiding.c.fields == one.fields)
    bump_revision(connection)
    return connection.execute(delete(hiding).where(hiding.c.subject == subject, *where)).rowcount
