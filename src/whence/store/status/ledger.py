"""The ledger: the outcome of every received record."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, and_, case, false, func, literal, select, true, union_all

from whence.model.ids import event_id, event_id_rest, join_event_key
from whence.store.connection.engine import reading
from whence.store.ingest.retention_summary import record_summary
from whence.store.schema.tables import event, receipt


@dataclass(frozen=True, slots=True)
class Ledger:
    """Counts of records by outcome; their sum is the number of records that the pipeline has read."""

    applied: int = 0
    duplicate: int = 0
    quarantined: int = 0

    @property
    def received(self) -> int:
        """The number of all records."""
        return self.applied + self.duplicate + self.quarantined


@dataclass(frozen=True, slots=True)
class Receipt:
    """One received record, and its outcome. `position` is its position in the log, as an integer."""

    position: int
    key: str
    outcome: str
    reason: str


def find_receipts(engine: Engine, sought: str) -> tuple[Receipt, ...]:
    """The receipts of an event's key, or the one at a position (an integer as text), by position."""
    if _KEY.fullmatch(sought):
        halves = event_id(sought), event_id_rest(sought)
        applied = and_(event.c.id == halves[0], event.c.rest == halves[1])
        others = and_(receipt.c.event_id == halves[0], receipt.c.rest == halves[1])
        return _read_receipts(engine, applied, others, limit=1_000)
    place = int(sought) if sought.isdecimal() and len(sought) < 20 else -1
    return _read_receipts(engine, event.c.position == place, receipt.c.position == place, limit=1_000)


def list_quarantined(engine: Engine, limit: int) -> tuple[Receipt, ...]:
    """The latest quarantined receipts, by position."""
    return _read_receipts(engine, false(), receipt.c.reason != "", limit)


def read_all_receipts(engine: Engine) -> tuple[Receipt, ...]:
    """The outcome of every record in the store: for audits and tests, not for pages."""
    return _read_receipts(engine, true(), true(), limit=sys.maxsize)


_KEY = re.compile("[0-9a-f]{32}")


def _read_receipts(
    engine: Engine, applied: ColumnElement[bool], not_applied: ColumnElement[bool], limit: int
) -> tuple[Receipt, ...]:
    first = select(event.c.position, event.c.id, event.c.rest, literal("").label("reason")).where(applied)
    receipts = select(receipt.c.position, receipt.c.event_id, receipt.c.rest, receipt.c.reason).where(not_applied)
    latest = receipts.order_by(receipt.c.position.desc()).limit(limit)
    with reading(engine) as connection:
        found = [
            *(
                Receipt(row.position, join_event_key(row.id, row.rest), "applied", "")
                for row in connection.execute(first)
            ),
            *(_later_receipt(row) for row in connection.execute(latest)),
        ]
    return tuple(sorted(found, key=lambda one: one.position))[-limit:]


def _later_receipt(row: Any) -> Receipt:
    outcome = "quarantined" if row.reason else "duplicate"
    return Receipt(row.position, join_event_key(row.event_id, row.rest), outcome, row.reason)


def accounted_positions(connection: Connection, first: int, last: int) -> set[int]:
    """The positions from `first` to `last` in the ledger, of events that retention kept. Reads all events."""
    found = select(event.c.position).where(event.c.position.between(first, last))
    others = select(receipt.c.position).where(receipt.c.position.between(first, last))
    return set(connection.execute(union_all(found, others)).scalars())


def read_ledger(engine: Engine) -> Ledger:
    """The current counts, including those of deleted records."""
    with reading(engine) as connection:
        applied = connection.execute(select(func.count()).select_from(event)).scalar_one()
        refused = case((receipt.c.reason == "", 0), else_=1)
        counts = select(func.count(), func.coalesce(func.sum(refused), 0)).select_from(receipt)
        received, quarantined_ = connection.execute(counts).one()
        sums = select(record_summary.c.outcome, func.sum(record_summary.c.records)).group_by(record_summary.c.outcome)
        gone = {outcome: int(records) for outcome, records in connection.execute(sums)}
    return Ledger(
        applied + gone.get("applied", 0),
        received - quarantined_ + gone.get("duplicate", 0),
        quarantined_ + gone.get("quarantined", 0),
    )


def list_quarantined_before(connection: Connection, position: int | None, limit: int) -> Sequence[tuple[int, str]]:
    """The positions and reasons of quarantined bodies, the latest first, before a position if given."""
    query = select(receipt.c.position, receipt.c.reason).where(receipt.c.reason != "")
    if position is not None:
        query = query.where(receipt.c.position < position)
    return [(at, why) for at, why in connection.execute(query.order_by(receipt.c.position.desc()).limit(limit))]
