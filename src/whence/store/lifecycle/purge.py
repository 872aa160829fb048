"""Enforcement of a horizon: its rows are counted, then deleted, in short transactions.

Each transaction leaves a usable store. After a crash the next run marks the remaining rows, and continues.
"""

from collections import Counter
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
from whence.model.ids import EMPTY_VERSION, baseline_statement_id
from whence.store.connection.engine import reading
from whence.store.connection.lock import Check
from whence.store.connection.sqlite import WRITING
from whence.store.ingest.retention_summary import RetentionHorizon, read_horizons, retention_horizon
from whence.store.lifecycle.expired_rows import LANE_BITS, MARKS, drop_marks, gone_statement, mark_expired, marked_keys
from whence.store.lifecycle.purge_counts import sum_events, sum_receipts, sum_runs
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import (
    FACTS,
    containment,
    declaration,
    dirty_key,
    event,
    facet_template,
    lineage_edge,
    lineage_set,
    lineage_version,
    measurement,
    progress,
    receipt,
    run,
    run_facets,
    run_lineage,
    schema_body,
    schema_version,
    statement,
    tag_body,
    tag_report,
    unreported_column,
    validity_interval,
)

CHUNK = 5_000
"""Rows of a marked table deleted in one transaction, with their dependent rows."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The rows that a horizon deletes, while they are marked: counts by table, and their keys."""

    connection: Connection
    rows: Mapping[str, int]

    def iterate_keys(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield table and key of every marked row, in order, without dependent rows."""
        for name, marks in MARKS.items():
            for some in marked_keys(self.connection, marks, CHUNK):
                yield from ((name, tuple(key)) for key in some)


@contextmanager
def preview_purge(engine: Engine, limit: RetentionHorizon) -> Iterator[Expired]:
    """Mark the rows that a horizon would delete now; the store stays unchanged. Raises StoreError if changes are
    pending.
    """
    with reading(engine) as connection:
        mark_expired(connection, limit, require_settled(connection))
        yield Expired(connection, _counts(connection))
        drop_marks(connection)


def enforce_horizon(engine: Engine, limit: RetentionHorizon, check_lock: Check = lambda: None) -> Mapping[str, int]:
    """Count and delete the rows that a horizon deletes. Returns the number of deleted rows by table.

    The caller holds the derive lock, or builds a store that nobody else uses. From the first transaction on, events
    from before the horizon are too late. Raises StoreError if changes are pending, or the lock is lost: then the next
    run continues.
    """
    with engine.connect().execution_options(**{WRITING: True}) as connection:
        with connection.begin():
            reached = require_settled(connection)
            number = _record_horizon(connection, limit, reached)
        with connection.begin():
            mark_expired(connection, limit, reached)
            counts = _counts(connection)
        _purge_statements(connection, check_lock)
        for name, how in _PURGES.items():
            _purge(connection, name, how, check_lock)
        with connection.begin():
            connection.execute(
                update(retention_horizon).where(retention_horizon.c.number == number).values(finished=True)
            )
            drop_marks(connection)
    return counts


def resume_purge(engine: Engine, check_lock: Check = lambda: None) -> None:
    """Finish the purges that a killed process began. The caller holds the derive lock."""
    with reading(engine) as connection:
        begun = [one for one in read_horizons(connection) if not one.finished]
    for one in begun:
        enforce_horizon(engine, one.horizon, check_lock)


def require_settled(connection: Connection) -> Mapping[str, int]:
    """The position of a store in each lane of the log. Raises StoreError if it has pending changes."""
    reached = {row.name: row.position for row in connection.execute(select(progress))}
    beyond = [table.c.position for table in (event, receipt)]
    ahead = any(
        connection.execute(select(func.count()).where(_is_after(column, reached))).scalar() for column in beyond
    )
    if ahead or connection.execute(select(dirty_key).limit(1)).first():
        raise StoreError(
            "the store contains the unfinished work of a killed pipeline: start the pipeline once, then try again"
        )
    return reached


def _is_after(position: Any, reached: Mapping[str, int]) -> Any:
    if len(reached) == 1:
        return position >= next(iter(reached.values()))
    lanes = [and_(position >= end, position < (end >> LANE_BITS) + 1 << LANE_BITS) for end in reached.values()]
    return or_(False, *lanes)


def _record_horizon(connection: Connection, limit: RetentionHorizon, reached: Mapping[str, int]) -> int:
    """Record the horizon, unless it equals the last one at the same position. Returns its number."""
    known = read_horizons(connection)
    if known and (known[-1].horizon, dict(known[-1].reached)) == (limit, dict(reached)):
        return known[-1].number
    number = len(known) + 1
    rows = [(number, *lane, limit.runs, limit.keep, limit.history, False) for lane in reached.items()]
    if rows:
        connection.execute(
            insert(retention_horizon), [dict(zip(retention_horizon.columns.keys(), row, strict=True)) for row in rows]
        )
    return number


@dataclass(frozen=True, slots=True)
class _Purge:
    """The deletion of marked rows: the columns by which rows are found by the marked key, and what is counted first."""

    found_by: tuple[tuple[Column[Any], ...], ...]
    count: Callable[[Connection, Subquery], None] | None = None


_PURGES: Mapping[str, _Purge] = {
    "receipt": _Purge(((receipt.c.position,),), sum_receipts),
    "event": _Purge(((measurement.c.source_id,), (event.c.id,)), sum_events),
    "run": _Purge(
        (
            (run_facets.c.run_id,),
            (measurement.c.source_id,),
            (run_lineage.c.run_id,),
            (containment.c.run_id,),
            (containment.c.container_id,),
            (run.c.id,),
        ),
        sum_runs,
    ),
    "declaration": _Purge(((declaration.c.event_id,),)),
    "validity_interval": _Purge(
        ((validity_interval.c.owner_id, validity_interval.c.aspect, validity_interval.c.valid_from),)
    ),
    "lineage_version": _Purge(((lineage_version.c.id,),)),
    "lineage_set": _Purge(((lineage_edge.c.set_id,), (unreported_column.c.set_id,), (lineage_set.c.id,))),
    "facet_template": _Purge(((facet_template.c.id,),)),
    "schema_version": _Purge(
        (
            (schema_body.c.dataset_id, schema_body.c.body_id),
            (schema_version.c.dataset_id, schema_version.c.body_id),
        )
    ),
    "tag_report": _Purge((tuple(tag_report.primary_key.columns),)),
    "tag_body": _Purge((tuple(tag_body.primary_key.columns),)),
}
"""In an order in which an interrupted purge leaves a usable store."""


def _purge(connection: Connection, name: str, how: _Purge, check_lock: Check) -> None:
    marks = MARKS[name]
    names = marks.primary_key.columns.keys()
    with connection.begin():
        chunks = list(marked_keys(connection, marks, CHUNK))
    for some in chunks:
        check_lock()
        with connection.begin():
            wanted = integers(connection, names, [tuple(key) for key in some])
            if how.count:
                how.count(connection, wanted)
            for columns in how.found_by:
                connection.execute(delete(columns[0].table).where(_matches_keys(columns, select(wanted))))


def _matches_keys(columns: Sequence[Column[Any]], wanted: Select[Any]) -> ColumnElement[bool]:
    return columns[0].in_(wanted) if len(columns) == 1 else tuple_(*columns).in_(wanted)


def _purge_statements(connection: Connection, check_lock: Check) -> None:
    """Delete statements owner by owner, since a baseline replaces the last deleted statement of an owner."""
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
    """Yield owners with marked statements, about a chunk of statements at a time."""
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
    """The statement that asserts everything that held after another one: the fold continues from it as from the
    other.
    """
    if row.held_version == EMPTY_VERSION and not row.held_confirmed:
        return None
    content = {"own_version": row.held_version, "confirmed": row.held_confirmed}
    return {**row._mapping, **content, "id": baseline_statement_id(row.owner_id, row.aspect)}


def _counts(connection: Connection) -> Mapping[str, int]:
    """The numbers of rows to delete, by table."""
    counts = Counter({statement.name: _count(connection, select(gone_statement))})
    for name, how in _PURGES.items():
        gone = select(*MARKS[name].primary_key.columns)
        for of in dict.fromkeys(columns[0].table for columns in how.found_by):
            conditions = [_matches_keys(columns, gone) for columns in how.found_by if columns[0].table is of]
            counts[of.name] += _count(connection, select(of).where(or_(*conditions)))
    return {table.name: counts[table.name] for table in (*FACTS, statement, validity_interval) if table.name in counts}


def _count(connection: Connection, rows: Select[Any]) -> int:
    return connection.execute(select(func.count()).select_from(rows.subquery())).scalar_one()
