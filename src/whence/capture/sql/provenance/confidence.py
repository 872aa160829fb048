"""The confidence of names that are resolved without a schema, measured by `python -m bench.sql_reader.accuracy
--confidence`.
"""

from typing import Final

Confidence = tuple[float, str]
"""A confidence in (0, 1], and its reason."""

SCHEMA: Final[Confidence] = (1.0, "schema")
SINGLE: Final[Confidence] = (0.99, "single source")
REMAINING: Final[Confidence] = (0.98, "not in the other sources")
DDL: Final[Confidence] = (0.97, "DDL of the script")
UNPLACED: Final[Confidence] = (0.5, "the target's columns are not known")
"""A value that is assigned by position, under its own name."""
EITHER: Final[Confidence] = (0.5, "may be a function or a pseudo-column")
"""A name that the dialect reserves, and that a table may use too."""
STALE: Final[Confidence] = (0.4, "not in the known schema")
"""A qualified column that the known schema lacks: the schema may be older than the statement."""
PROCEDURAL: Final = 0.8
"""A factor for statements of procedures and dynamic SQL, which may not be the ones that run."""


def one_of(candidates: int) -> Confidence:
    """The confidence that a column belongs to one given table of several."""
    return round(1 / candidates, 2), "one of several candidates"
