"""Counts of the rows that a purge deletes (`store/ingest/retention_summary.py`), in the same transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Subquery, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.model.events import RunState
from whence.openlineage.validation.rejection_reasons import classify_refusal
from whence.store.ingest.retention_summary import month_of, record_summary, run_summary
from whence.store.schema.tables import event, receipt, run

Totals = dict[tuple[Any, ...], list[int]]
"""Sums, and possibly extremes, by key."""
LONGEST = 10 * 366 * 86_400 * 1_000_000
"""The longest plausible run in microseconds: ten years."""


def sum_runs(connection: Connection, wanted: Subquery) -> None:
    """Count runs by job, month and last state, without runs known only from their children."""
    columns = (run.c.job_id, run.c.state, run.c.started_at, run.c.state_at, run.c.seen_from, run.c.seen_to)
    totals: Totals = {}
    for row in connection.execute(select(*columns).join(wanted, wanted.c.id == run.c.id)):
        if row.seen_to is None:
            continue
        ended = RunState(row.state).rank == RunState.COMPLETE
        took = _length(row.started_at, row.state_at) if ended else None
        key = (row.job_id, month_of(row.seen_to), row.state)
        known = totals.setdefault(key, [0, 0, 0, row.seen_from, row.seen_to])
        known[0] += 1
        known[1] += took is not None
        known[2] += took or 0
        known[3], known[4] = min(known[3], row.seen_from), max(known[4], row.seen_to)
    _add(connection, run_summary, totals)


def _length(start: int | None, end: int) -> int | None:
    """The duration of a run. None if a clock must be wrong: the sum would not fit in 64 bits."""
    return end - start if start is not None and 0 <= end - start <= LONGEST else None


def sum_events(connection: Connection, wanted: Subquery) -> None:
    """Count applied events by producer and month."""
    found = connection.execute(select(event.c.producer_id, event.c.time).join(wanted, wanted.c.id == event.c.id))
    _add_records(connection, [(("applied", "", producer_id, month_of(time)), time) for producer_id, time in found])


def sum_receipts(connection: Connection, wanted: Subquery) -> None:
    """Count duplicates by producer and month of their event, if known; rejected records by the class of their
    reason.
    """
    query = (
        select(receipt.c.reason, event.c.producer_id, event.c.time)
        .join(wanted, wanted.c.position == receipt.c.position)
        .outerjoin(event, event.c.id == receipt.c.event_id)
    )
    _add_records(connection, [_outcome(*row) for row in connection.execute(query)])


Record = tuple[tuple[str, str, int, int], int]
"""The counted properties of a record: the key of `record_summary`, and its time."""


def _outcome(reason: str, producer_id: int | None, time: int | None) -> Record:
    if reason:
        return ("quarantined", classify_refusal(reason), 0, 0), 0
    if producer_id is None or time is None:
        return ("duplicate", "", 0, 0), 0
    return ("duplicate", "", producer_id, month_of(time)), time


def _add_records(connection: Connection, records: Iterable[Record]) -> None:
    totals: Totals = {}
    for key, time in records:
        known = totals.setdefault(key, [0, time])
        known[0], known[1] = known[0] + 1, max(known[1], time)
    _add(connection, record_summary, totals)


def _add(connection: Connection, table: Table, totals: Mapping[tuple[Any, ...], Sequence[int]]) -> None:
    if not totals:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    given = dialect.insert(table)
    changes = {
        column.name: _merged_value(connection, column, given) for column in table.columns if not column.primary_key
    }
    rows = [dict(zip(table.columns.keys(), (*key, *values), strict=True)) for key, values in sorted(totals.items())]
    connection.execute(given.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=changes), rows)


def _merged_value(
    connection: Connection, column: Column[int], given: sqlite.Insert | postgresql.Insert
) -> ColumnElement[int]:
    new = given.excluded[column.name]
    least, most = (func.min, func.max) if connection.dialect.name == "sqlite" else (func.least, func.greatest)
    match column.name:
        case "first_seen":
            return least(column, new)
        case "last_seen":
            return most(column, new)
    return column + new
