"""Failure streaks: the failed runs of a job between two good ones."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, Row, func, select

from whence.model.events import RunState
from whence.store.catalog.listings import is_alive
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import job, run
from whence.store.status.failing_jobs import FAILED

DAY = 86_400_000_000
LAPSE = 7 * DAY
"""A failure that is not repeated for so long is over: nobody runs the job any more."""
MOST_JOBS = 1_000
"""Jobs whose runs are read: those that failed last."""
_HISTORY = 60 * DAY
"""How far back runs are read to find where a streak begins."""


class FailureStreak(NamedTuple):
    """Failed runs of a job (ids of runs) without a good one between them; times in µs. `good`: the last good run before
    them, 0 if none is known; `lapsed`: whether the job had no run for LAPSE before this one; `until`: of the next good
    run, or when the failure lapsed; None while it lasts.
    """

    job_id: int
    good: int
    lapsed: bool
    first: int
    since: int
    last_at: int
    failures: int
    until: int | None


class FailureStreaks(NamedTuple):
    """Streaks of all jobs, and whether the jobs are all that failed in the time."""

    found: Sequence[FailureStreak]
    are_all: bool


def read_failure_streaks(connection: Connection, since: int, until: int) -> FailureStreaks:
    """The streaks with a failure after a time (µs) and not after another, as they were known then."""
    jobs = _failed_jobs(connection, since, until)
    rows = _read_runs(connection, jobs[:MOST_JOBS], until - _HISTORY, until)
    found = [one for _, some in groupby(rows, key=lambda row: row.job_id) for one in _streaks(some, until)]
    return FailureStreaks([one for one in found if one.last_at > since], len(jobs) <= MOST_JOBS)


def _failed_jobs(connection: Connection, since: int, until: int) -> Sequence[int]:
    """Jobs that failed in a time, those that failed last first; one more than MOST_JOBS."""
    query = select(run.c.job_id).join(job, job.c.id == run.c.job_id)
    query = query.where(run.c.state.in_(FAILED), run.c.seen_to > since, run.c.seen_to <= until, is_alive(job))
    query = query.group_by(run.c.job_id).order_by(func.max(run.c.seen_to).desc(), run.c.job_id)
    return list(connection.execute(query.limit(MOST_JOBS + 1)).scalars())


def _read_runs(
    connection: Connection, job_ids: Sequence[int], since: int, until: int
) -> Iterable[Row[int, int, int, int]]:
    wanted = integers(connection, ("id",), [(one,) for one in job_ids])
    query = select(run.c.job_id, run.c.id, run.c.state, run.c.seen_to).join(wanted, wanted.c.id == run.c.job_id)
    ended = run.c.state.in_((*FAILED, int(RunState.COMPLETE)))
    query = query.where(ended, run.c.seen_to > since, run.c.seen_to <= until)
    return connection.execute(query.order_by(run.c.job_id, run.c.seen_to, run.c.id))


def _streaks(runs: Iterable[Row[int, int, int, int]], at: int) -> Iterator[FailureStreak]:
    """The streaks in the ended runs of one job, the earliest first."""
    good, lapsed, current = 0, False, None
    for job_id, run_id, state, time in runs:
        is_good = state == RunState.COMPLETE
        if current is not None and (is_good or time > current.last_at + LAPSE):
            yield current._replace(until=min(time, current.last_at + LAPSE))
            current, lapsed = None, True
        if is_good:
            good, lapsed = run_id, False
        elif current is None:
            current = FailureStreak(job_id, good, lapsed, run_id, time, time, 1, None)
        else:
            current = current._replace(last_at=time, failures=current.failures + 1)
    if current is not None:
        lapse = current.last_at + LAPSE
        yield current._replace(until=lapse if lapse <= at else None)
