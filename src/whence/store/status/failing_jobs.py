"""Failing jobs: their failed runs, their last good runs, and how much is downstream of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from whence.model.blast_radius import COUNTED
from whence.model.catalog import sorted_distinct
from whence.model.events import RunState
from whence.store.catalog.listings import is_alive
from whence.store.graph.blast_radius import blast_generation, blast_radius
from whence.store.schema.array_parameters import integers
from whence.store.schema.tables import event, job, run

FAILED = (int(RunState.ABORT), int(RunState.FAIL))
MOST_FAILED = 500
"""Failed runs of a job that are grouped by attempt."""


class FailingJob(NamedTuple):
    """A job that failed since its last good run. `since` and `until`: the first and last failure (µs)."""

    job_id: int
    since: int
    until: int
    failures: int


class DownstreamCounts(NamedTuple):
    """The downstream counts of a job, as computed last, in the order of `COUNTED`."""

    counts: tuple[int, ...]


def list_failing_jobs(connection: Connection, since: int) -> Sequence[FailingJob]:
    """Jobs with a run that failed after `since`, and none that completed after it."""
    good = run.alias("good")
    last_good = (
        select(good.c.seen_to)
        .where(good.c.job_id == run.c.job_id, good.c.state == int(RunState.COMPLETE))
        .order_by(good.c.seen_to.desc())
        .limit(1)
        .correlate(run)
        .scalar_subquery()
    )
    query = (
        select(run.c.job_id, func.min(run.c.seen_to), func.max(run.c.seen_to), func.count())
        .join(job, job.c.id == run.c.job_id)
        .where(run.c.state.in_(FAILED), run.c.seen_to >= since, is_alive(job))
        .where(run.c.seen_to > func.coalesce(last_good, 0))
        .group_by(run.c.job_id)
    )
    return [FailingJob(*row) for row in connection.execute(query)]


def read_downstream_counts(connection: Connection, job_ids: Iterable[int]) -> Mapping[int, DownstreamCounts]:
    """The downstream counts of each job; a job without counts is left out."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(job_ids)])
    current = select(func.max(blast_generation.c.generation)).scalar_subquery()
    columns = [blast_radius.c[name] for name in COUNTED]
    query = select(blast_radius.c.node_id, *columns).join(wanted, wanted.c.id == blast_radius.c.node_id)
    rows = connection.execute(query.where(blast_radius.c.generation == current))
    return {row[0]: DownstreamCounts(tuple(row[1:])) for row in rows}


def read_last_good_runs(connection: Connection, job_ids: Iterable[int]) -> Mapping[int, int]:
    """The id of the last run of each job that completed."""
    return _last(connection, job_ids, (int(RunState.COMPLETE),))


def read_failed_runs(connection: Connection, since: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
    """The failed runs of each job from a time (µs) on, the latest first: MOST_FAILED at most."""
    wanted = integers(connection, ("id", "since"), sorted(since.items()))
    newest = (run.c.seen_to.desc(), run.c.id.desc())
    place = func.row_number().over(partition_by=run.c.job_id, order_by=newest).label("place")
    failed = select(run.c.job_id, run.c.id, place).join(wanted, wanted.c.id == run.c.job_id)
    ranked = failed.where(run.c.state.in_(FAILED), run.c.seen_to >= wanted.c.since).subquery()
    query = select(ranked.c.job_id, ranked.c.id).where(ranked.c.place <= MOST_FAILED)
    found: dict[int, list[int]] = {}
    for job_id, run_id in connection.execute(query.order_by(ranked.c.job_id, ranked.c.place)):
        found.setdefault(job_id, []).append(run_id)
    return found


def read_run_events(connection: Connection, run_ids: Iterable[int]) -> Mapping[int, Sequence[tuple[int, int, int]]]:
    """The events about each run, the earliest first: (half of the key, the other half, position in the log)."""
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(run_ids)])
    query = select(event.c.subject_id, event.c.id, event.c.rest, event.c.position)
    query = query.join(wanted, wanted.c.id == event.c.subject_id).order_by(event.c.time, event.c.id)
    found: dict[int, list[tuple[int, int, int]]] = {}
    for subject, *rest in connection.execute(query):
        found.setdefault(subject, []).append((rest[0], rest[1], rest[2]))
    return found


def _last(connection: Connection, job_ids: Iterable[int], states: Sequence[int]) -> Mapping[int, int]:
    wanted = integers(connection, ("id",), [(one,) for one in sorted_distinct(job_ids)])
    newest = (
        select(run.c.id)
        .where(run.c.job_id == wanted.c.id, run.c.state.in_(states))
        .order_by(run.c.seen_to.desc(), run.c.id.desc())
        .limit(1)
        .correlate(wanted)
        .scalar_subquery()
    )
    rows = connection.execute(select(wanted.c.id, newest.label("run")))
    return {job_id: run_id for job_id, run_id in rows if run_id is not None}
