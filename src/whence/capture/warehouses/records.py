"""The records of a poll: a query that ran, with what is known of the tables around it, and a view."""

from dataclasses import dataclass

from whence.capture.sql import Catalog
from whence.capture.sql_log.query import Parts, Query, Reported

NO_COLUMNS = Catalog(tables={})


@dataclass(frozen=True, slots=True, kw_only=True)
class RanQuery:
    """A query. `catalog`: the columns of the warehouse's tables as they are today, the same object in one poll.

    `refused`: sentences of what the user of the poll may not read, without which its lineage may be incomplete.
    """

    query: Query
    catalog: Catalog = NO_COLUMNS
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A view as it is defined since `changed` (microseconds since 1970 UTC).

    `definition` is its query or its whole statement, empty if it may not be read; `reads` are the tables that the
    warehouse says it depends on.
    """

    parts: Parts
    changed: int
    definition: str = ""
    owner: str = ""
    description: str = ""
    reads: tuple[Parts, ...] = ()
    catalog: Catalog = NO_COLUMNS

    @property
    def reported(self) -> Reported:
        """What the warehouse itself says of it."""
        return Reported(inputs=self.reads, outputs=(self.parts,))


Record = RanQuery | View


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a warehouse spells. `quote` begins and ends a name that is quoted."""

    name: str
    quote: str = '"'

    def quoted(self, parts: Parts) -> str:
        """A dotted name that means exactly these parts."""
        return ".".join(self.quote + one.replace(self.quote, self.quote * 2) + self.quote for one in parts)
