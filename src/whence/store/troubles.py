"""Jobs that fail or are late, of their runs in one pass; and what is known of each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Float, Subquery, and_, case, cast, func, select

from whence.model.blast import COUNTED
from whence.model.catalog import distinct
from whence.model.events import RunState
from whence.store.arrays import integers
from whence.store.blast import blast_generation, blast_radius
from whence.store.catalog_names import is_alive
from whence.store.lives import outermost_containers
from whence.store.tables import event, job, run

FAILED = (int(RunState.ABORT), int(RunState.FAIL))
FEWEST_RUNS = 4
"""Of fewer it is not known how often a job runs."""
MOST_UNEVEN = 3
"""A job whose longest pause is longer than so many mean ones runs when somebody wants it to."""
SHORTEST_HISTORY = 2 * 86_400 * 1_000_000
"""Regular runs over less time (µs) are no schedule: a script in a loop, or the tasks of one afternoon."""
PATIENCE = 1.25
MOST_FAILED = 500
"""Failed runs of a job that are told apart by attempt."""


class Failing(NamedTuple):
    """A job that failed since its last good run. `since` and `until`: when first and last (µs)."""

    job_id: int
    since: int
    until: int
    failures: int


class Late(NamedTuple):
    """A job that pauses for longer than it ever did: its last start, and its longest pause so far (µs)."""

    job_id: int
    last: int
    longest: int
    runs: int


class Radius(NamedTuple):
    """How much is downstream of a job, as it was counted last: in the order of `COUNTED`."""

    counts: tuple[int, ...]


def failing_jobs(connection: Connection, since: int) -> Sequence[Failing]:
    """Jobs of whose runs one failed after `since`, and none completed after that."""
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
    return [Failing(*row) for row in connection.execute(query)]


def late_jobs(connection: Connection, since: int, now: int) -> Sequence[Late]:
    """Jobs that ran regularly after `since`, and pause now for longer than `PATIENCE` times their longest pause.

    Only a job that is scheduled itself can be late. So runs within a run that reports events do not count, nor does
    a job whose latest run is one of them; all runs within one run that reports nothing count as one.
    """
    starts = _scheduled_starts(since)
    pause = (starts.c.at - func.lag(starts.c.at).over(partition_by=starts.c.job_id, order_by=starts.c.at)).label(
        "pause"
    )
    paused = select(starts, pause).where(starts.c.contained == 0).subquery()
    latest = select(starts.c.job_id, func.max(starts.c.at).label("at")).group_by(starts.c.job_id).subquery()
    first, last = func.min(paused.c.at), func.max(paused.c.at)
    longest, runs = func.max(paused.c.pause), func.count()
    # Of clocks that are wrong by ages: beyond 64 bits PostgreSQL refuses a product of integers.
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
    return [Late(*row) for row in connection.execute(query)]


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


def read_radii(connection: Connection, job_ids: Iterable[int]) -> Mapping[int, Radius]:
    """How much is downstream of each job; of one that was not counted yet, nothing."""
    wanted = integers(connection, ("id",), [(one,) for one in distinct(job_ids)])
    current = select(func.max(blast_generation.c.generation)).scalar_subquery()
    columns = [blast_radius.c[name] for name in COUNTED]
    query = select(blast_radius.c.node_id, *columns).join(wanted, wanted.c.id == blast_radius.c.node_id)
    rows = connection.execute(query.where(blast_radius.c.generation == current))
    return {row[0]: Radius(tuple(row[1:])) for row in rows}


def last_good_runs(connection: Connection, job_ids: Iterable[int]) -> Mapping[int, int]:
    """The id of the last run of each job that completed."""
    return _last(connection, job_ids, (int(RunState.COMPLETE),))


def failed_runs(connection: Connection, since: Mapping[int, int]) -> Mapping[int, Sequence[int]]:
    """The runs of each job that failed from a time (µs) on, the latest first: MOST_FAILED at most."""
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


def events_of(connection: Connection, run_ids: Iterable[int]) -> Mapping[int, Sequence[tuple[int, int, int]]]:
    """The events about each run, the earliest first: (half of the key, the other half, position in the log)."""
    wanted = integers(connection, ("id",), [(one,) for one in distinct(run_ids)])
    query = select(event.c.subject_id, event.c.id, event.c.rest, event.c.position)
    query = query.join(wanted, wanted.c.id == event.c.subject_id).order_by(event.c.time, event.c.id)
    found: dict[int, list[tuple[int, int, int]]] = {}
    for subject, *rest in connection.execute(query):
        found.setdefault(subject, []).append((rest[0], rest[1], rest[2]))
    return found


def _last(connection: Connection, job_ids: Iterable[int], states: Sequence[int]) -> Mapping[int, int]:
    wanted = integers(connection, ("id",), [(one,) for one in distinct(job_ids)])
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
