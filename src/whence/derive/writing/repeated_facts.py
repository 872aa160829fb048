"""The facts of the rows that events repeat: one row of each for all events of a chunk that assert it.

It is the fold of the rows of all these events, because every column takes the least or the greatest of them. Only a
report of tags is a row of its own. A test holds both equal for every table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from whence.derive.rows.repeated_rows import RepeatedRows
from whence.store.schema.dirty_keys import DirtyKey
from whence.store.schema.merge import Row

Stamp = tuple[int, int, int]
"""Time, state rank and id of an event, by which it wins over others."""


@dataclass(slots=True)
class Assertions:
    """Events that assert the same rows: the first and last of them by (time, id), and the one whose facets win.
    `reports`: all of them, if the rows have tags.
    """

    rows: RepeatedRows
    first: tuple[int, int]
    last: tuple[int, int]
    winner: Stamp
    reports: set[Stamp] = field(default_factory=set)

    @classmethod
    def by(cls, rows: RepeatedRows, stamp: Stamp) -> "Assertions":
        """The assertions of one event."""
        time, _, event = stamp
        return cls(rows, (time, event), (time, event), stamp, {stamp} if rows.tags else set())

    def add(self, stamp: Stamp) -> None:
        """Add another event."""
        time, _, event = stamp
        self.first = min(self.first, (time, event))
        self.last = max(self.last, (time, event))
        self.winner = max(self.winner, stamp)
        if self.rows.tags:
            self.reports.add(stamp)


def expand(asserted: Assertions) -> Iterator[tuple[str, Row]]:
    """The rows by table."""
    rows, witnessed = asserted.rows, (*asserted.first, *asserted.last)
    seen = asserted.first[0], asserted.last[0]
    yield from (("dataset", (*name, *seen)) for name in rows.datasets)
    yield from (("job", (*name, *seen)) for name in rows.jobs)
    yield from (("facet", (subject, name, *asserted.winner, body)) for subject, name, body, _ in rows.facets)
    yield from (("alias", (*alias, *witnessed)) for alias in rows.aliases)
    yield from (("dirty_key", (dataset, int(DirtyKey.ALIAS), dataset)) for dataset, *_ in rows.aliases)
    yield from (("schema_version", (dataset, body, *witnessed)) for dataset, body, _ in rows.schemas)
    yield from (("tag_report", (*tags, *stamp, body)) for *tags, body in rows.tags for stamp in asserted.reports)
    yield from (("lineage_set", (*address, *witnessed)) for *address, _ in rows.sets)
    yield from (("lineage_version", (rows.version, id_)) for id_, *_ in rows.sets)
