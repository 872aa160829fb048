"""Made-up companies: their tables, and how many random databases show what the edits of their statements change.

A statement of a corpus begins with the company's name; DuckDB executes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

from capture.sql.generated.companies import (
    campus,
    care,
    film,
    grid,
    harbour,
    insurance,
    logistics,
    market,
    resort,
    subscriptions,
    tram,
)

WITH_ROWS = 24
"""How many databases to have where a statement has an answer."""


@dataclass(frozen=True)
class Estate:
    """`module` makes the tables from the versions of a statement; `rows`: how many databases with rows to have.

    `is_quoted`: whether its tables have quoted names. `keys`: those that a score may declare, by table.
    """

    module: ModuleType
    rows: int
    is_quoted: bool = True
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def types(self) -> Mapping[str, Mapping[str, str]]:
        """The types of columns, by table."""
        return {**self.module.TABLES, **self.module.TARGETS}

    def target_of(self, statement: str) -> str:
        """The table that a statement writes; empty for a query."""
        return str(self.module.target_of(statement))


ESTATES: Mapping[str, Estate] = {
    "subscriptions": Estate(subscriptions, WITH_ROWS, is_quoted=False),
    "care": Estate(care, 48, is_quoted=False),
    "logistics": Estate(logistics, 48),
    "grid": Estate(grid, 48),
    "market": Estate(market, 48),
    # A month and thirty days differ in few of them.
    "insurance": Estate(insurance, 120),
    "campus": Estate(campus, 56),
    "resort": Estate(resort, 56, keys=resort.KEYS),
    "film": Estate(film, 56, keys=film.KEYS),
    "harbour": Estate(harbour, 56, keys=harbour.KEYS),
    "tram": Estate(tram, 56, keys=tram.KEYS),
}


def find_estate(statement: str) -> Estate | None:
    """The company whose tables a statement reads; None if it is of a benchmark or of Spark's shop."""
    return ESTATES.get(statement.partition(" ")[0])
