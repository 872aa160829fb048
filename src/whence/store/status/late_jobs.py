"""Late jobs: those whose current pause is longer than any pause while they ran regularly."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Float, Subquery, and_, case, cast, func, select

from whence.model.catalog import SourceJob
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


def read_source_jobs(connection: Connection, namespaces: Iterable[str], since: int, until: int) -> Sequence[SourceJob]:
    """How regularly the jobs in these namespaces ran, of those with runs after a time and until another (µs), and when
    each was heard of last.
    """
    start = func.coalesce(run.c.started_at, run.c.seen_from)
    heard = case((run.c.seen_to <= until, run.c.seen_to), else_=start)
    of_source = (job.c.namespace.in_(sorted(set(namespaces))), run.c.seen_to >= since, run.c.seen_from.is_not(None))
    pause = start - func.lag(start).over(partition_by=run.c.job_id, order_by=start)
    paused = (
        select(run.c.job_id, job.c.namespace, start.label("start"), pause.label("pause"), heard.label("heard"))
        .join(job, job.c.id == run.c.job_id)
        .where(*of_source, start <= until, run.c.streaming == 0)
        .subquery()
    )
    longest = func.coalesce(func.max(paused.c.pause), 0)
    measures = (func.min(paused.c.start), func.max(paused.c.start), longest, func.count(), func.max(paused.c.heard))
    query = select(paused.c.job_id, paused.c.namespace, *measures).group_by(paused.c.job_id, paused.c.namespace)
    return [
        SourceJob(row[0], row[1], *map(int, row[2:])) for row in connection.execute(query.order_by(paused.c.job_id))
    ]


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
