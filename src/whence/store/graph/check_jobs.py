"""Jobs that only check data: they read, write nothing, and have reported results of checks of all that they read."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, select

from whence.model.catalog import sorted_distinct
from whence.model.graph import ALL_TIME
from whence.store.graph.history import read_held
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import checked_dataset, lineage_edge, lineage_set


def read_check_jobs(connection: Connection, job_ids: Iterable[int], at: int | None) -> frozenset[int]:
    """Which of these jobs only check data now, or did as of a time (µs)."""
    checked = _read_checked(connection, sorted_distinct(job_ids), at)
    if not checked:
        return frozenset()
    job_of = {row.set_id: row.owner_id for row in read_held(connection, None if at == ALL_TIME else at, checked)}
    others = {job_of[set_id] for set_id in _writing_sets(connection, sorted(job_of))}
    others |= {
        job_of[set_id]
        for set_id, dataset in _sources(connection, sorted(job_of))
        if dataset not in checked[job_of[set_id]]
    }
    return frozenset(checked.keys() - others)


def _read_checked(connection: Connection, job_ids: Sequence[int], at: int | None) -> Mapping[int, set[int]]:
    """The datasets that each job has checked, without jobs that checked none."""
    wanted = integers(connection, ("id",), [(one,) for one in job_ids])
    query = select(checked_dataset.c.job_id, checked_dataset.c.dataset_id)
    query = query.join(wanted, wanted.c.id == checked_dataset.c.job_id)
    if at is not None and at != ALL_TIME:
        query = query.where(checked_dataset.c.first_seen <= at)
    found: dict[int, set[int]] = {}
    for job_id, dataset_id in connection.execute(query):
        found.setdefault(job_id, set()).add(dataset_id)
    return found


def _writing_sets(connection: Connection, set_ids: Sequence[int]) -> Sequence[int]:
    wanted = integers(connection, ("id",), [(one,) for one in set_ids])
    query = select(lineage_set.c.id).join(wanted, wanted.c.id == lineage_set.c.id)
    return connection.execute(query.where(lineage_set.c.output_id != 0)).scalars().all()


def _sources(connection: Connection, set_ids: Sequence[int]) -> Sequence[tuple[int, int]]:
    """Set, and dataset that it reads; 0 for another job."""
    wanted = integers(connection, ("id",), [(one,) for one in set_ids])
    query = select(lineage_edge.c.set_id, lineage_edge.c.source_dataset_id)
    return [(row[0], row[1]) for row in connection.execute(query.join(wanted, wanted.c.id == lineage_edge.c.set_id))]
