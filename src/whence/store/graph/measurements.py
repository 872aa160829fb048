"""Measurements, and the runs of a job whose duration is known, as questions read them."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from whence.model.events import RunState
from whence.model.graph import MeasurementRow, RunRow
from whence.store.encryption.keyring import keys_in, open_measurement
from whence.store.graph.runs import read_runs
from whence.store.schema.array_parameters import integers
from whence.store.schema.packed import MEASURED_FACETS, unpack_measurements
from whence.store.schema.tables import measurement, run

_ENDS = tuple(int(state) for state in RunState if state.rank == RunState.COMPLETE)


def read_measurements(
    connection: Connection, dataset_ids: Iterable[int], at: int | None, limit: int, facet: str = ""
) -> Sequence[MeasurementRow]:
    """The facets that measure these datasets, the latest first, at most `limit`; as of a time (µs). With `facet` only
    those of this name.
    """
    wanted = integers(connection, ("id",), [(id_,) for id_ in dataset_ids])
    query = select(measurement).join(wanted, wanted.c.id == measurement.c.dataset_id)
    if at is not None:
        query = query.where(measurement.c.time <= at)
    if facet:
        numbers = [number for number, (_, name) in enumerate(MEASURED_FACETS) if name == facet]
        query = query.where(measurement.c.facet.in_(numbers))
    latest = (measurement.c.time.desc(), *(column.desc() for column in measurement.primary_key.columns))
    find = keys_in(connection)
    return [
        MeasurementRow(
            dataset_id=row.dataset_id,
            # A dataset event has no role. Its id may look like that of a run.
            run_id=row.source_id if role else 0,
            role=role,
            facet=facet,
            time=row.time,
            values=tuple(unpack_measurements(open_measurement(find, tuple(row)))),
        )
        for row in connection.execute(query.order_by(*latest).limit(limit)).all()
        for role, facet in (MEASURED_FACETS[row.facet],)
    ]


def read_ended_runs(connection: Connection, job_id: int, at: int | None, limit: int) -> Sequence[RunRow]:
    """The runs of a job that started and ended, the latest end first, at most `limit`; as of a time (µs)."""
    ended = (run.c.job_id == job_id, run.c.state.in_(_ENDS), run.c.started_at <= run.c.state_at)
    query = select(run.c.id).where(*ended, *(() if at is None else (run.c.state_at <= at,)))
    ids = connection.execute(query.order_by(run.c.state_at.desc(), run.c.id.desc()).limit(limit)).scalars()
    return sorted(read_runs(connection, ids), key=lambda row: (-row.state_at, row.id))
