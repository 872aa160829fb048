"""Where in the log events about datasets begin."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, func, select

from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import event


def read_first_positions(connection: Connection, dataset_ids: Iterable[int]) -> Mapping[int, int]:
    """The position of the first event about each dataset, as an integer; a dataset without one is left out."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted(set(dataset_ids))])
    query = (
        select(event.c.subject_id, func.min(event.c.position).label("position"))
        .join(wanted, wanted.c.id == event.c.subject_id)
        .group_by(event.c.subject_id)
    )
    return {row.subject_id: row.position for row in connection.execute(query)}
