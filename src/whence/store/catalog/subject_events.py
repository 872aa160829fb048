"""The events about datasets and jobs themselves, by their places in the log."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from whence.model.catalog import sorted_distinct
from whence.model.events import EventKind
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import event


class SubjectEvent(NamedTuple):
    """The halves of the key of an event, its position in the log, what it is about, and its time (µs)."""

    id: int
    rest: int
    position: int
    subject_id: int
    time: int


def read_subject_events(
    connection: Connection, subject_ids: Iterable[int], kinds: Sequence[EventKind], until: int, limit: int
) -> Mapping[int, Sequence[SubjectEvent]]:
    """The events of some kinds about each subject until a time (µs), the latest first: `limit` at most."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(subject_ids)])
    newest = (event.c.time.desc(), event.c.id.desc())
    place = func.row_number().over(partition_by=event.c.subject_id, order_by=newest).label("place")
    columns = (event.c.id, event.c.rest, event.c.position, event.c.subject_id, event.c.time)
    of_kinds = event.c.kind.in_([int(one) for one in kinds])
    about = select(*columns, place).join(wanted, wanted.c.id == event.c.subject_id)
    ranked = about.where(of_kinds, event.c.time <= until).subquery()
    query = select(*(ranked.c[one.name] for one in columns)).where(ranked.c.place <= limit)
    found: dict[int, list[SubjectEvent]] = {}
    for row in connection.execute(query.order_by(ranked.c.subject_id, ranked.c.place)):
        found.setdefault(row.subject_id, []).append(SubjectEvent(*row))
    return found
