"""Enforcing a horizon: what it lets go of is counted, then deleted, in short transactions.

Each transaction leaves a store that answers; after a crash the next run marks what is left, and goes on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    Subquery,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from whence.errors import StoreError
from whence.model.ids import NOTHING, baseline_id
from whence.store.arrays import integers
from whence.store.engine import WRITING, reading
from whence.store.expired import LANE_BITS, MARKS, gone_statement, keys, mark, unmark
from whence.store.lock import Check
from whence.store.summary import Horizon, horizon, read_horizons
from whence.store.summing import sum_events, sum_receipts, sum_runs
from whence.store.tables import (
    FACTS,
    containment,
    declaration,
    event,
    lineage_edge,
    lineage_set,
    progress,
    receipt,
    run,
    run_facets,
    run_lineage,
    schema_body,
    schema_version,
    span,
    statement,
    touched,
    unreported_column,
    version,
)

CHUNK = 5_000
"""Rows of a marked table deleted in one transaction, with what belongs to them."""


@dataclass(frozen=True, slots=True)
class Expired:
    """What a horizon lets go of, while its marks are there: rows by table, and their keys."""

    connection: Connection
    rows: Mapping[str, int]

    def listed(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Table and key of every marked row, in order; rows that belong to these have none here."""
        for name, marks in MARKS.items():
            for some in keys(self.connection, marks, CHUNK):
                yield from ((name, tuple(key)) for key in some)


@contextmanager
def expiring(engine: Engine, limit: Horizon) -> Iterator[Expired]:
    """What a horizon would let go of now; the store stays as it is. Raises StoreError if it is not settled."""
    with reading(engine) as connection:
        mark(connection, limit, settled(connection))
        yield Expired(connection, _counts(connection))
        unmark(connection)


def enforce(engine: Engine, limit: Horizon, check_lock: Check = lambda: None) -> Mapping[str, int]:
    """Count and delete what a horizon lets go of; rows deleted, by table. The caller holds the derive
    lock, or builds a store that nobody else knows.

    From the first moment on, events from before the horizon are too late. Raises StoreError if the store is not
    settled, or the lock is lost: then the next run goes on.
    """
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        with connection.begin():
            reached = settled(connection)
            number = _note(connection, limit, reached)
        with connection.begin():
            mark(connection, limit, reached)
            counts = _counts(connection)
        _purge_statements(connection, check_lock)
        for name, how in _PURGES.items():
            _purge(connection, name, how, check_lock)
        with connection.begin():
            connection.execute(update(horizon).where(horizon.c.number == number).values(finished=True))
            unmark(connection)
    return counts


def resume(engine: Engine, check_lock: Check = lambda: None) -> None:
    """Finish what was begun when a process was killed. The caller holds the derive lock."""
    with reading(engine) as connection:
        begun = [one for one in read_horizons(connection) if not one.finished]
    for one in begun:
        enforce(engine, one.horizon, check_lock)


def settled(connection: Connection) -> Mapping[str, int]:
    """How far a store has read each lane of the log, if all that it has read is derived. Raises StoreError."""
    reached = {row.name: row.position for row in connection.execute(select(progress))}
    beyond = [table.c.position for table in (event, receipt)]
    ahead = any(connection.execute(select(func.count()).where(_after(column, reached))).scalar() for column in beyond)
    if ahead or connection.execute(select(touched).limit(1)).first():
        raise StoreError(
            "the store holds what a pipeline that was killed left: start the pipeline once, then try again"
        )
    return reached


def _after(position: Any, reached: Mapping[str, int]) -> Any:
    if len(reached) == 1:
        return position >= next(iter(reached.values()))
    lanes = [and_(position >= end, position < (end >> LANE_BITS) + 1 << LANE_BITS) for end in reached.values()]
    return or_(False, *lanes)


def _note(connection: Connection, limit: Horizon, reached: Mapping[str, int]) -> int:
    """Write the horizon down, unless it is the last one that was, at the same place; its number."""
    known = read_horizons(connection)
    if known and (known[-1].horizon, dict(known[-1].reached)) == (limit, dict(reached)):
        return known[-1].number
    number = len(known) + 1
    rows = [(number, *lane, limit.runs, limit.keep, limit.history, False) for lane in reached.items()]
    if rows:
        connection.execute(insert(horizon), [dict(zip(horizon.columns.keys(), row, strict=True)) for row in rows])
    return number


@dataclass(frozen=True, slots=True)
class _Purge:
    """How marked rows go: the columns by which rows are found by the marked key, and what is counted first."""

    found_by: tuple[tuple[Column[Any], ...], ...]
    count: Callable[[Connection, Subquery], None] | None = None


_PURGES: Mapping[str, _Purge] = {
    "receipt": _Purge(((receipt.c.position,),), sum_receipts),
    "event": _Purge(((event.c.id,),), sum_events),
    "run": _Purge(
        (
            (run_facets.c.run_id,),
            (run_lineage.c.run_id,),
            (containment.c.run_id,),
            (containment.c.container_id,),
            (run.c.id,),
        ),
        sum_runs,
    ),
    "declaration": _Purge(((declaration.c.event_id,),)),
    "span": _Purge(((span.c.owner_id, span.c.aspect, span.c.valid_from),)),
    "version": _Purge(((version.c.id,),)),
    "lineage_set": _Purge(((lineage_edge.c.set_id,), (unreported_column.c.set_id,), (lineage_set.c.id,))),
    "schema_version": _Purge(
        (
            (schema_body.c.dataset_id, schema_body.c.body_id),
            (schema_version.c.dataset_id, schema_version.c.body_id),
        )
    ),
}
"""In an order in which a store that was left in between still answers."""


def _purge(connection: Connection, name: str, how: _Purge, check_lock: Check) -> None:
    marks = MARKS[name]
    names = marks.primary_key.columns.keys()
    with connection.begin():
        chunks = list(keys(connection, marks, CHUNK))
    for some in chunks:
        check_lock()
        with connection.begin():
            wanted = integers(connection, names, [tuple(key) for key in some])
            if how.count:
                how.count(connection, wanted)
            for columns in how.found_by:
                connection.execute(delete(columns[0].table).where(_among(columns, select(wanted))))


def _among(columns: Sequence[Column[Any]], wanted: Select[Any]) -> ColumnElement[bool]:
    return columns[0].in_(wanted) if len(columns) == 1 else tuple_(*columns).in_(wanted)


def _purge_statements(connection: Connection, check_lock: Check) -> None:
    """Owner by owner, because what an owner's last one says is said by its baseline from then on."""
    for owners in _owners(connection):
        check_lock()
        with connection.begin():
            wanted = select(integers(connection, ("owner_id", "aspect"), owners))
            marked = select(gone_statement.c.id).where(
                tuple_(gone_statement.c.owner_id, gone_statement.c.aspect).in_(wanted)
            )
            last = select(statement).where(statement.c.id.in_(marked.where(gone_statement.c.place == 1)))
            baselines = [row for row in map(_baseline, connection.execute(last)) if row]
            connection.execute(delete(statement).where(statement.c.id.in_(marked)))
            if baselines:
                connection.execute(insert(statement), baselines)


def _owners(connection: Connection) -> Iterator[list[tuple[int, int]]]:
    """Owners with marked statements, about a chunk of these at a time."""
    owner = (gone_statement.c.owner_id, gone_statement.c.aspect)
    with connection.begin():
        counted = connection.execute(select(*owner, func.count()).group_by(*owner).order_by(*owner)).all()
    some, size = list[tuple[int, int]](), 0
    for owner_id, aspect, count in counted:
        some.append((owner_id, aspect))
        size += count
        if size >= CHUNK:
            yield some
            some, size = [], 0
    if some:
        yield some


def _baseline(row: Row[Any]) -> dict[str, Any] | None:
    """A statement that says all that held after another one: folding goes on from it as it would from that one."""
    if row.held_version == NOTHING and not row.held_confirmed:
        return None
    said = {"own_version": row.held_version, "confirmed": row.held_confirmed}
    return {**row._mapping, **said, "id": baseline_id(row.owner_id, row.aspect)}


def _counts(connection: Connection) -> Mapping[str, int]:
    """Rows that go, by table."""
    counts = {statement.name: _count(connection, select(gone_statement))}
    for name, how in _PURGES.items():
        gone = select(*MARKS[name].primary_key.columns)
        for of in dict.fromkeys(columns[0].table for columns in how.found_by):
            conditions = [_among(columns, gone) for columns in how.found_by if columns[0].table is of]
            counts[str(of)] = _count(connection, select(of).where(or_(*conditions)))
    return {table.name: counts[table.name] for table in (*FACTS, statement, span) if table.name in counts}


def _count(connection: Connection, rows: Select[Any]) -> int:
    return connection.execute(select(func.count()).select_from(rows.subquery())).scalar_one()
