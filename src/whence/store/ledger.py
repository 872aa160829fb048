"""The ledger: what became of every record that was received."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Engine, case, func, or_, select

from whence.store.engine import reading
from whence.store.tables import event, receipt


@dataclass(frozen=True, slots=True)
class Ledger:
    """Counts of records by outcome; together, all records that the pipeline has read."""

    applied: int = 0
    duplicate: int = 0
    quarantined: int = 0

    @property
    def received(self) -> int:
        """All of them."""
        return self.applied + self.duplicate + self.quarantined


OUTCOME = case(
    (receipt.c.outcome == "quarantined", "quarantined"),
    (receipt.c.position == event.c.position, "applied"),
    else_="duplicate",
)
"""Of a receipt joined to its event: the receipt at the event's least position is the one that was applied."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One record that was received, and what became of it. `position` is in the log, as an integer."""

    position: int
    key: str
    outcome: str
    reason: str


def receipts(engine: Engine, sought: str) -> tuple[Receipt, ...]:
    """The receipts of an event's key, or the one at a position (an integer as text), by position."""
    place = int(sought) if sought.isdecimal() else -1
    return _read_receipts(engine, or_(receipt.c.key == sought, receipt.c.position == place), limit=1_000)


def quarantined(engine: Engine, limit: int) -> tuple[Receipt, ...]:
    """The latest receipts that were quarantined, by position."""
    return _read_receipts(engine, receipt.c.outcome == "quarantined", limit)


def _read_receipts(engine: Engine, wanted: ColumnElement[bool], limit: int) -> tuple[Receipt, ...]:
    columns = (receipt.c.position, receipt.c.key, OUTCOME.label("became"), receipt.c.reason)
    joined = select(*columns).select_from(receipt.outerjoin(event, event.c.key == receipt.c.key))
    latest = joined.where(wanted).order_by(receipt.c.position.desc()).limit(limit)
    with reading(engine) as connection:
        return tuple(Receipt(*row) for row in reversed(connection.execute(latest).all()))


def read_ledger(engine: Engine) -> Ledger:
    """The counts as of now."""
    outcomes = select(OUTCOME.label("became"), func.count().label("records"))
    joined = outcomes.select_from(receipt.outerjoin(event, event.c.key == receipt.c.key))
    with reading(engine) as connection:
        return Ledger(**{row.became: row.records for row in connection.execute(joined.group_by("became"))})
