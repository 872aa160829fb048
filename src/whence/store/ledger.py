"""The ledger: what became of every record that was received."""

from dataclasses import dataclass

from sqlalchemy import Engine, case, func, select

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


def read_ledger(engine: Engine) -> Ledger:
    """The counts as of now."""
    outcomes = select(OUTCOME.label("became"), func.count().label("records"))
    joined = outcomes.select_from(receipt.outerjoin(event, event.c.key == receipt.c.key))
    with reading(engine) as connection:
        return Ledger(**{row.became: row.records for row in connection.execute(joined.group_by("became"))})
