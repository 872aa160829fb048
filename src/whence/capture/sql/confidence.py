"""How sure a name is that was resolved without a schema, and why: measured, `python -m bench.accuracy --confidence`."""

from typing import Final

Sureness = tuple[float, str]
"""A confidence in (0, 1], and its reason."""

SCHEMA: Final[Sureness] = (1.0, "schema")
SINGLE: Final[Sureness] = (0.99, "single source")
REMAINING: Final[Sureness] = (0.98, "not in the other sources")
DDL: Final[Sureness] = (0.97, "DDL of the script")
UNPLACED: Final[Sureness] = (0.5, "the target's columns are not known")
"""A value by position, under its own name."""
EITHER: Final[Sureness] = (0.5, "may be a function or a pseudo-column")
"""A name that the dialect knows, and that a table may have too."""
STALE: Final[Sureness] = (0.4, "not in the known schema")
"""A qualified column that its table is not known to have: the schema may be older than the statement."""
PROCEDURAL: Final = 0.8
"""What a statement of a procedure, or dynamic SQL, is worth beside: it may not be the one that runs."""


def one_of(candidates: int) -> Sureness:
    """One of several tables, of which one has the column."""
    return round(1 / candidates, 2), "one of several candidates"
