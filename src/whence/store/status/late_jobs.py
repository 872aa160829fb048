"""Late jobs: those whose current pause is longer than any pause while they ran regularly."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Float, Subquery, and_, case, cast, func, select

from whence.store.catalog.listings import is_alive
from whence.store.schema.tables import job, run
from whence.store.status.job_activity import outermost_containers

FEWEST_RUNS = 4
"""With fewer runs the period of a job is unknown."""
MOST_UNEVEN = 3
"""A job whose longest pause exceeds this many mean pauses runs on demand."""
SHORTEST_HISTORY = 2 * 86_400 * 1_000_000
"""Regular runs over less time (µs) are no schedule: a script in a loop, or the tasks of one afternoon."""
PATIENCE = 1.25


class LateJob(NamedTuple):
    """A job that pauses for longer than ever: its last start, and its longest pause so far (µs)."""

    job_id: int
    last: int
    longest: int
    runs: int


def list_late_jobs(connection: Connection, since: int, now: int) -> Sequence[LateJob]:
    """Jobs that ran regularly after `since`, and now pause for longer than `PATIENCE` times their longest pause.

    Only a job that is scheduled itself can be late. So runs within a run that reports events do not count, nor does a
    job whose latest run is one of them. All runs within one run without events count as one.
    """
    starts = _scheduled_starts(since)
    pause = (starts.c.at - func.lag(starts.c.at).over(partition_by=starts.c.job_id, order_by=starts.c.at)).label(
        "pause"
    )
    paused = select(starts, pause).where(starts.c.contained == 0).subquery()
    latest = select(starts.c.job_id, func.max(starts.c.at).label("at")).group_by(starts.c.job_id).subquery()
    first, last = func.min(paused.c.at), func.max(paused.c.at)
    longest, runs = func.max(paused.c.pause), func.count()
    # As a float: with badly wrong clocks the product exceeds 64 bits, which PostgreSQL rejects for integers.
    regular = cast(longest, Float) * (runs - 1) <= MOST_UNEVEN * (last - first)
    has_history = and_(runs >= FEWEST_RUNS, last - first >= SHORTEST_HISTORY)
    query = (
        select(paused.c.job_id, last, longest, runs)
        .join(job, job.c.id == paused.c.job_id)
        .join(latest, latest.c.job_id == paused.c.job_id)
        .where(is_alive(job))
        .group_by(paused.c.job_id, latest.c.at)
        .having(has_history, regular, last == latest.c.at, (now - last) > PATIENCE * longest)
    )
    return [LateJob(*row) for row in connection.execute(query)]


def _scheduled_starts(since: int) -> Subquery:
    """The starts of each job's batch runs after `since`: (job_id, contained, at). `contained`: within a run that
    reports events. Runs of a job within one run are one start, the earliest.
    """
    above = outermost_containers()
    container = run.alias("container")
    contained = case((container.c.seen_from.is_not(None), 1), else_=0).label("contained")
    at = func.min(func.coalesce(run.c.started_at, run.c.seen_from)).label("at")
    return (
        select(run.c.job_id, contained, at)
        .outerjoin(above, above.c.run_id == run.c.id)
        .outerjoin(container, container.c.id == above.c.container_id)
        .where(run.c.seen_to >= since, run.c.seen_from.is_not(None), run.c.streaming == 0)
        .group_by(run.c.job_id, contained, func.coalesce(above.c.container_id, run.c.id))
        .subquery()
    )
