"""The audit log: each row has a hash of itself and of the row before, in the order of commits.

The hashes need no secret: anybody can verify them, offline. A writer of the whole table could recompute them. So sign
its head from time to time (`govern.signed_heads`): a rewritten table does not contain it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, insert, or_, select, update

from whence.errors import AuditError
from whence.store.security.tables import audit, audit_head

NOTHING = "0" * 64
"""The hash before the first row."""

_ROWS = 10_000
_REFUSALS = (401, 403)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An action of somebody. `status` is that of the HTTP response, 0 for a command; `at` in microseconds UTC."""

    at: int
    who: str
    action: str
    what: str
    nodes: tuple[str, ...] = ()
    count: int = 0
    status: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """A filter of entries, the newest first; empty and None members match everything.

    In `who`, `action` and `what` `*` matches any text. `after` (inclusive) and `before` in µs; `below`: lower numbers.
    """

    who: str = ""
    action: str = ""
    what: str = ""
    node: str = ""
    refused: bool = False
    after: int | None = None
    before: int | None = None
    below: int | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Head:
    """The last row: its number and its hash."""

    number: int
    hash: str


def append_entries(connection: Connection, entries: Sequence[Entry]) -> Head:
    """Append entries in one writing transaction. The head is locked until it commits."""
    head = connection.execute(select(audit_head.c.number, audit_head.c.hash).with_for_update()).one()
    number, before, rows = head.number, head.hash, []
    for entry in entries:
        number += 1
        before = _hash(before, number, entry)
        rows.append(_row(number, entry) | {"hash": before})
    if rows:
        connection.execute(insert(audit), rows)
        connection.execute(update(audit_head).values(number=number, hash=before))
    return Head(number, before)


def make_head(connection: Connection) -> None:
    """Insert the head of an empty log, for the migration that creates the table."""
    connection.execute(insert(audit_head).values(id=0, number=0, hash=NOTHING))


def verify_log(connection: Connection, earlier: Sequence[Head] = ()) -> Head:
    """Read the whole log. Returns its head if every row is unchanged, and every earlier head is in it.

    Raises AuditError with the number of the changed, removed or moved row.
    """
    number, before = 0, NOTHING
    wanted = {head.number: head.hash for head in earlier}
    for row in _rows(connection):
        number += 1
        if row.number != number:
            raise AuditError(number, "is missing")
        before = _hash(before, number, _entry(row))
        if row.hash != before:
            raise AuditError(number, "is not what was written, or not in its place")
        if wanted.pop(number, before) != before:
            raise AuditError(number, "does not match an earlier head: the log was rewritten")
    head = connection.execute(select(audit_head.c.number, audit_head.c.hash)).one_or_none()
    if head is None or (head.number, head.hash) != (number, before) or any(wanted):
        raise AuditError(number + 1, "is missing: the log was cut")
    return Head(number, before)


def read_audit(connection: Connection, sought: AuditFilter) -> Sequence[tuple[int, Entry]]:
    """The newest matching entries, with their numbers."""
    query = select(audit).where(*_conditions(sought)).order_by(audit.c.number.desc()).limit(sought.limit)
    return [(row.number, _entry(row)) for row in connection.execute(query)]


def read_last_uses(connection: Connection) -> Mapping[str, Mapping[str, int]]:
    """When each subject did each action last (µs), rejected requests aside."""
    found: dict[str, dict[str, int]] = {}
    allowed = audit.c.status.not_in(_REFUSALS)
    query = select(audit.c.who, audit.c.action, func.max(audit.c.at)).where(allowed)
    for who, action, at in connection.execute(query.group_by(audit.c.who, audit.c.action)):
        found.setdefault(who, {})[action] = at
    return found


def read_beginning(connection: Connection) -> int | None:
    """The time of the first entry (µs); None: there is none."""
    first: int | None = connection.execute(select(func.min(audit.c.at))).scalar_one()
    return first


def _conditions(sought: AuditFilter) -> Iterator[ColumnElement[bool]]:
    for column, pattern in ((audit.c.who, sought.who), (audit.c.action, sought.action), (audit.c.what, sought.what)):
        if pattern:
            yield _matches(column, pattern)
    if sought.node:
        yield audit.c.nodes.contains(json.dumps(sought.node), autoescape=True)
    if sought.refused:
        yield or_(audit.c.status.in_(_REFUSALS), audit.c.action == "refused")
    if sought.after is not None:
        yield audit.c.at >= sought.after
    if sought.before is not None:
        yield audit.c.at < sought.before
    if sought.below is not None:
        yield audit.c.number < sought.below


def _matches(column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    """Whether a text matches a pattern in which `*` is any text, as in grants; without one it must be equal."""
    if "*" not in pattern:
        return column == pattern
    escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return column.like(escaped.replace("*", "%"), escape="\\")


def _rows(connection: Connection) -> Iterator[Row[Any]]:
    last = -(2**62)
    while rows := connection.execute(
        select(audit).where(audit.c.number > last).order_by(audit.c.number).limit(_ROWS)
    ).all():
        yield from rows
        last = rows[-1].number


def _row(number: int, entry: Entry) -> dict[str, object]:
    columns = {"at": entry.at, "who": entry.who, "action": entry.action, "what": entry.what}
    return columns | {
        "number": number,
        "nodes": json.dumps(entry.nodes),
        "count": entry.count,
        "status": entry.status,
    }


def _entry(row: Row[Any]) -> Entry:
    columns = row._mapping
    nodes = tuple(json.loads(columns["nodes"]))
    return Entry(nodes=nodes, **{name: columns[name] for name in ("at", "who", "action", "what", "count", "status")})


def _hash(before: str, number: int, entry: Entry) -> str:
    text = json.dumps([before, *sorted(_row(number, entry).items())])
    return sha256(text.encode()).hexdigest()
