"""Deriving what holds from the facts: statements, spans, current edges. Only what was touched is computed again.

A touched run or declaration changes the history of its owner from its place on. The fold starts at that place from
what held before it, and stops where it agrees again with what is stored. So a late event costs what it changes, and
the result is that of a full fold.

Statements of different owners have nothing to do with each other: in PostgreSQL, parts of the owners may be settled at
the same time, each in a transaction of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Engine,
    Integer,
    Row,
    Select,
    and_,
    delete,
    func,
    literal,
    select,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.events import RunState
from whence.store.connection.engine import reading
from whence.store.connection.transactions import transact
from whence.store.ingest.alias_groups import recompute_groups
from whence.store.ingest.change_log import close_change_version
from whence.store.ingest.drop_recompute import mark_drops_dirty, recompute_drops
from whence.store.ingest.owner_history import read_versions, replace_statements
from whence.store.ingest.statements import (
    RunFacts,
    Statement,
    Version,
    combine_versions,
    declared_statements,
    ending_statements,
    run_statement,
)
from whence.store.schema.array_parameters import given, giving, integers
from whence.store.schema.dirty_keys import DirtyKey
from whence.store.schema.tables import declaration, dirty_key, progress, run, run_lineage

CHUNK = 5_000
"""Dirty keys processed at a time; bounds memory, not the transaction."""


PARTS = 32
"""The number of parts into which owners are divided, by their ids."""

_KIND_BITS = 2  # the lowest of an id (model.ids)
_ADVISORY = 0x77_68_65_6E  # "when"


def recompute(engine: Engine, reached: Mapping[str, int]) -> None:
    """Recompute everything that follows from the facts merged so far, and store the position reached in each lane. One
    transaction.
    """
    transact(engine, partial(_recompute_all, reached))


def recompute_part(engine: Engine, part: int) -> None:
    """Recompute what follows from the facts merged so far, for one part of the owners (PostgreSQL). One transaction."""
    transact(engine, partial(_recompute_part, part))


def has_large_backlog(engine: Engine) -> bool:
    """Whether there is more to recompute than one transaction should do alone."""
    some = select(dirty_key.c.owner_id).limit(CHUNK + 1).subquery()
    with reading(engine) as connection:
        return connection.execute(select(func.count()).select_from(some)).scalar_one() > CHUNK


def _recompute_all(reached: Mapping[str, int], connection: Connection) -> None:
    _recompute_owners(range(PARTS), connection)
    while dropped := _take_chunk(connection, _SELECT_DROPPED):
        recompute_drops(connection, [row.statement_id for row in dropped])
    while aliased := _take_chunk(connection, _SELECT_ALIASED):
        recompute_groups(connection, [row.statement_id for row in aliased])
    _write_progress(connection, reached)
    close_change_version(connection)


def _recompute_part(part: int, connection: Connection) -> None:
    _recompute_owners([part], connection)
    close_change_version(connection)


def _recompute_owners(parts: Sequence[int], connection: Connection) -> None:
    _lock(connection, parts)
    while rows := _take_chunk(connection, _select_of_owners(tuple(parts))):
        runs = [row.statement_id for row in rows if row.kind == DirtyKey.RUN]
        declared = [row.statement_id for row in rows if row.kind == DirtyKey.DECLARATION]
        stated = [*_run_statements(connection, runs), *_declarations(connection, declared)]
        replace_statements(connection, list({*runs, *declared, *(one.id for one, _ in stated)}), stated)
        mark_drops_dirty(connection, runs, declared)


def _lock(connection: Connection, parts: Sequence[int]) -> None:
    """Lock parts, since an executor that was given up as lost may still work on one."""
    if connection.dialect.name != "sqlite":
        wanted = integers(connection, ("part",), [(part,) for part in parts])
        connection.execute(select(func.pg_advisory_xact_lock(_ADVISORY, wanted.c.part.cast(Integer)))).all()


@cache
def _select_of_owners(parts: tuple[int, ...]) -> Select[Any]:
    part_of = dirty_key.c.owner_id.bitwise_rshift(literal(_KIND_BITS)).bitwise_and(literal(PARTS - 1))
    of_statements = dirty_key.c.kind.in_((int(DirtyKey.RUN), int(DirtyKey.DECLARATION)))
    return _select_dirty(and_(of_statements, *([part_of.in_(parts)] if len(parts) < PARTS else [])))


def _select_dirty(which: ColumnElement[bool]) -> Select[Any]:
    return select(dirty_key).where(which).order_by(*dirty_key.primary_key.columns).limit(CHUNK)


_SELECT_DROPPED = _select_dirty(dirty_key.c.kind == DirtyKey.LIFE)
_SELECT_ALIASED = _select_dirty(dirty_key.c.kind == DirtyKey.ALIAS)


def _take_chunk(connection: Connection, chunk: Select[Any]) -> Sequence[Row[Any]]:
    """Remove and return a chunk of dirty keys, those of one owner together: its history is folded once."""
    rows = connection.execute(chunk).all()
    if rows:
        dialect = connection.dialect.name
        given_rows = giving(dialect, dirty_key.columns.keys(), [tuple(row) for row in rows])
        connection.execute(_delete_dirty(dialect), given_rows)
    return rows


@cache
def _delete_dirty(dialect: str) -> Delete:
    taken = given(dialect, *dirty_key.columns.keys())
    return delete(dirty_key).where(tuple_(*dirty_key.columns).in_(select(*taken.columns)))


def _write_progress(connection: Connection, reached: Mapping[str, int]) -> None:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    given = dialect.insert(progress)
    upsert = given.on_conflict_do_update(index_elements=["name"], set_={"position": given.excluded.position})
    if reached:
        connection.execute(upsert, [{"name": name, "position": position} for name, position in reached.items()])


def _run_statements(connection: Connection, ids: Sequence[int]) -> Iterable[tuple[Statement, Version]]:
    if not ids:
        return
    dialect = connection.dialect.name
    wanted = giving(dialect, ("id",), [(id_,) for id_ in ids])
    facts = connection.execute(_select_runs(dialect), wanted).all()
    run_versions = connection.execute(_select_run_versions(dialect), wanted).all()
    versions = read_versions(connection, {version for _, version in run_versions})
    by_run: dict[int, list[int]] = {}
    for run_id, version in run_versions:
        by_run.setdefault(run_id, []).append(version)
    combined: dict[tuple[int, ...], Version] = {}  # most runs assert what the job's other runs do
    for id_, job_id, state, state_at, seen_from, streaming in facts:
        reported = tuple(sorted(by_run.get(id_, ())))
        if reported not in combined:
            combined[reported] = combine_versions([versions[one] for one in reported])
        if seen_from is not None and combined[reported]:
            one = RunFacts(id_, job_id, RunState(state), state_at, seen_from, bool(streaming))
            yield run_statement(one, combined[reported]), combined[reported]


@cache
def _select_runs(dialect: str) -> Select[int, int, int, int, int | None, int]:
    wanted = given(dialect, "id")
    columns = (run.c.id, run.c.job_id, run.c.state, run.c.state_at, run.c.seen_from, run.c.streaming)
    return select(*columns).join(wanted, wanted.c.id == run.c.id)


@cache
def _select_run_versions(dialect: str) -> Select[int, int]:
    wanted = given(dialect, "id")
    columns = (run_lineage.c.run_id, run_lineage.c.version)
    return select(*columns).join(wanted, wanted.c.id == run_lineage.c.run_id)


def _declarations(connection: Connection, ids: Sequence[int]) -> Iterable[tuple[Statement, Version]]:
    if not ids:
        return
    wanted = integers(connection, ("id",), [(id_,) for id_ in ids])
    found = connection.execute(select(declaration).join(wanted, wanted.c.id == declaration.c.event_id)).all()
    versions = read_versions(connection, {row.version for row in found})
    for event_id, owner_id, time, version, ends in found:
        if ends:
            yield from ending_statements(event_id, owner_id, time)
        else:
            yield from declared_statements(event_id, owner_id, time, versions[version])
