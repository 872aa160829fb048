"""Deriving what holds from the facts: statements, spans, current edges. Only what was touched is computed again.

A touched run or declaration changes the history of its owner from its place on. The fold starts at that place from
what held before it, and stops where it agrees again with what is stored. So a late event costs what it changes, and
the result is that of a full fold.

Statements of different owners have nothing to do with each other: in PostgreSQL, parts of the owners may be settled at
the same time, each in a transaction of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Integer, Row, and_, delete, func, literal, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.events import RunState
from whence.store.arrays import integers
from whence.store.drops import settle_drops, touch_drops
from whence.store.editions import close_edition
from whence.store.engine import reading, transact
from whence.store.groups import settle_groups
from whence.store.history import read_versions, restate
from whence.store.statements import (
    RunFacts,
    Statement,
    Version,
    declared_statements,
    ending_statements,
    run_statement,
)
from whence.store.tables import Touch, declaration, progress, run, run_lineage, touched

CHUNK = 5_000
"""Touched statements settled at a time; bounds memory, not the transaction."""


PARTS = 32
"""Into so many parts all owners are divided, by their ids."""

_KIND_BITS = 2  # the lowest of an id (model.ids)
_ADVISORY = 0x77_68_65_6E  # "when"


def settle(engine: Engine, reached: Mapping[str, int]) -> None:
    """Derive from all facts merged so far, and say up to which position each lane is in the tables. One transaction."""
    transact(engine, partial(_settle_all, reached))


def settle_part(engine: Engine, part: int) -> None:
    """Derive what the facts merged so far imply for one part of the owners (PostgreSQL). One transaction."""
    transact(engine, partial(_settle_part, part))


def is_much(engine: Engine) -> bool:
    """Whether more is to be settled than one transaction should do alone."""
    some = select(touched.c.owner_id).limit(CHUNK + 1).subquery()
    with reading(engine) as connection:
        return connection.execute(select(func.count()).select_from(some)).scalar_one() > CHUNK


def _settle_all(reached: Mapping[str, int], connection: Connection) -> None:
    _settle_owners(range(PARTS), connection)
    while dropped := _take(connection, touched.c.kind == Touch.LIFE):
        settle_drops(connection, [row.statement_id for row in dropped])
    while aliased := _take(connection, touched.c.kind == Touch.ALIAS):
        settle_groups(connection, [row.statement_id for row in aliased])
    _write_progress(connection, reached)
    close_edition(connection)


def _settle_part(part: int, connection: Connection) -> None:
    _settle_owners([part], connection)
    close_edition(connection)


def _settle_owners(parts: Sequence[int], connection: Connection) -> None:
    _lock(connection, parts)
    part_of = touched.c.owner_id.bitwise_rshift(literal(_KIND_BITS)).bitwise_and(literal(PARTS - 1))
    of_statements = touched.c.kind.in_((int(Touch.RUN), int(Touch.DECLARATION)))
    theirs = and_(of_statements, *([part_of.in_(parts)] if len(parts) < PARTS else []))
    while rows := _take(connection, theirs):
        runs = [row.statement_id for row in rows if row.kind == Touch.RUN]
        declared = [row.statement_id for row in rows if row.kind == Touch.DECLARATION]
        stated = [*_run_statements(connection, runs), *_declarations(connection, declared)]
        restate(connection, list({*runs, *declared, *(one.id for one, _ in stated)}), stated)
        touch_drops(connection, runs, declared)


def _lock(connection: Connection, parts: Sequence[int]) -> None:
    """One settles a part at a time: an executor that is given up as lost may still be at work."""
    if connection.dialect.name != "sqlite":
        wanted = integers(connection, ("part",), [(part,) for part in parts])
        connection.execute(select(func.pg_advisory_xact_lock(_ADVISORY, wanted.c.part.cast(Integer)))).all()


def _take(connection: Connection, which: ColumnElement[bool]) -> Sequence[Row[Any]]:
    """A chunk of what is touched, those of one owner together: its history is folded once."""
    rows = connection.execute(select(touched).where(which).order_by(*touched.primary_key.columns).limit(CHUNK)).all()
    if rows:
        taken = integers(connection, touched.columns.keys(), [tuple(row) for row in rows])
        is_taken = tuple_(*touched.columns).in_(select(*taken.columns))
        connection.execute(delete(touched).where(is_taken))
    return rows


def _write_progress(connection: Connection, reached: Mapping[str, int]) -> None:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    given = dialect.insert(progress)
    upsert = given.on_conflict_do_update(index_elements=["name"], set_={"position": given.excluded.position})
    if reached:
        connection.execute(upsert, [{"name": name, "position": position} for name, position in reached.items()])


def _run_statements(connection: Connection, ids: Sequence[int]) -> Iterable[tuple[Statement, Version]]:
    if not ids:
        return
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    facts = connection.execute(
        select(run.c.id, run.c.job_id, run.c.state, run.c.state_at, run.c.seen_from, run.c.streaming).join(
            wanted, wanted.c.id == run.c.id
        )
    ).all()
    said = connection.execute(
        select(run_lineage.c.run_id, run_lineage.c.version).join(wanted, wanted.c.id == run_lineage.c.run_id)
    ).all()
    versions = read_versions(connection, {version for _, version in said})
    by_run: dict[int, list[Version]] = {}
    for run_id, version in said:
        by_run.setdefault(run_id, []).append(versions[version])
    for id_, job_id, state, state_at, seen_from, streaming in facts:
        if seen_from is not None:
            made = run_statement(
                RunFacts(id_, job_id, RunState(state), state_at, seen_from, bool(streaming)), by_run.get(id_, ())
            )
            if made:
                yield made


def _declarations(connection: Connection, ids: Sequence[int]) -> Iterable[tuple[Statement, Version]]:
    if not ids:
        return
    wanted = integers(connection, ("id",), [(one,) for one in ids])
    found = connection.execute(select(declaration).join(wanted, wanted.c.id == declaration.c.event_id)).all()
    versions = read_versions(connection, {row.version for row in found})
    for event_id, owner_id, time, version, ends in found:
        if ends:
            yield from ending_statements(event_id, owner_id, time)
        else:
            yield from declared_statements(event_id, owner_id, time, versions[version])
