"""Reading what an access review judges by: the access policy, and what the audit log says of its use."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from whence.govern.access_review import GIVEN, KEPT, AccessFacts, Kept
from whence.query.sensitivity.labelled_columns import LabelledColumn
from whence.store.security.api_key_rows import read_keys
from whence.store.security.audit import AuditFilter, read_audit, read_beginning, read_last_uses
from whence.store.security.grants import read_grants, read_hidings
from whence.store.security.restrictions import read_restrictions
from whence.store.security.sessions import read_members

_MOST_DECISIONS = 1_000_000
_REJECTED = 400
"""The least status of a request that changed nothing."""


def read_access_facts(connection: Connection, columns: Sequence[LabelledColumn]) -> AccessFacts:
    """The facts in a security database. `columns`: those with sensitive data."""
    return AccessFacts(
        grants=read_grants(connection),
        hidings=read_hidings(connection),
        restrictions=read_restrictions(connection),
        keys=read_keys(connection),
        uses=read_last_uses(connection),
        logged_since=read_beginning(connection),
        members=read_members(connection),
        given=_given(connection),
        kept=_kept(connection),
        columns=columns,
    )


def _given(connection: Connection) -> Mapping[tuple[str, str], int]:
    return {
        (one.nodes[0], one.nodes[1]): one.at
        for what in GIVEN
        for _, one in reversed(read_audit(connection, AuditFilter(what=what, limit=_MOST_DECISIONS)))
        if len(one.nodes) > 1 and one.status < _REJECTED
    }


def _kept(connection: Connection) -> Sequence[Kept]:
    return [
        Kept(subject=one.nodes[0], namespaces=one.nodes[1], reason=one.nodes[2], by=one.who, at=one.at)
        for what in KEPT
        for _, one in read_audit(connection, AuditFilter(what=what, limit=_MOST_DECISIONS))
        if len(one.nodes) > 2 and one.status < _REJECTED
    ]
