"""Grants and hidings by subject, and the one number that grows with each change."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from whence.model.access import Grant, Hiding, Role
from whence.store.security.tables import grant, hiding, state

EVERYBODY = "*"
"""The subject of hidings that bind everybody."""


@dataclass(frozen=True, slots=True)
class State:
    """How often access changed, and the installation's secret."""

    revision: int
    secret: bytes


def read_state(connection: Connection) -> State:
    """The state now."""
    row = connection.execute(select(state.c.revision, state.c.secret)).one()
    return State(row.revision, row.secret)


def make_state(connection: Connection) -> None:
    """The first state, with a new secret: for the migration that makes the table."""
    connection.execute(insert(state).values(id=0, revision=0, secret=secrets.token_bytes(32)))


def changed(connection: Connection) -> None:
    """Say that access changed."""
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


def give(connection: Connection, subject: str, one: Grant) -> None:
    """Give a subject this role in these namespaces, in place of the one that it had there."""
    take(connection, subject, one.namespaces)
    connection.execute(insert(grant).values(subject=subject, namespaces=one.namespaces, role=one.role))


def take(connection: Connection, subject: str, namespaces: str) -> int:
    """Take a grant back; how many there were."""
    gone = delete(grant).where(grant.c.subject == subject, grant.c.namespaces == namespaces)
    changed(connection)
    return connection.execute(gone).rowcount


def hide(connection: Connection, subject: str, hidings: Iterable[Hiding]) -> None:
    """Hide fields from a subject."""
    for one in hidings:
        show(connection, subject, one)
        values = {"namespaces": one.namespaces, "datasets": one.datasets, "fields": one.fields}
        connection.execute(insert(hiding).values(subject=subject, **values))


def show(connection: Connection, subject: str, one: Hiding) -> int:
    """Hide fields no more; how many rules there were."""
    where = (hiding.c.namespaces == one.namespaces, hiding.c.datasets == one.datasets, hiding.c.fields == one.fields)
    changed(connection)
    return connection.execute(delete(hiding).where(hiding.c.subject == subject, *where)).rowcount
