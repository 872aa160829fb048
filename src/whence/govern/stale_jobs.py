"""Stale jobs: jobs not seen for so long that they may have ended, and the event that decommissions one."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import Any

from sqlalchemy import Engine

from whence.model.names import JobName
from whence.openlineage.facets.facet_keys import DECOMMISSIONED, LIFECYCLE
from whence.openlineage.write import job_event, own_facet
from whence.store.connection.engine import reading
from whence.store.status.job_activity import JobActivity, read_job_activity

DAY = 86_400_000_000

LEAST_RUNS = 3
"""Fewer runs are not enough to estimate a period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StalenessRule:
    """A job is stale if it was not seen for `periods` of its own periods, and for at least `least` µs."""

    periods: float = 3
    least: int = 7 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleJob:
    """A job not seen for `silent` µs that used to run every `period` µs."""

    job: JobName
    period: int
    last_seen: int
    silent: int


def list_stale_jobs(engine: Engine, now: int, rule: StalenessRule) -> tuple[StaleJob, ...]:
    """The jobs that are stale at a time, by name, without decommissioned ones."""
    with reading(engine) as connection:
        activities = read_job_activity(connection, LIFECYCLE)
    return tuple(find_stale(activities, now, rule))


def find_stale(activities: Iterable[JobActivity], now: int, rule: StalenessRule) -> Iterable[StaleJob]:
    """The stale jobs among these. Pure."""
    for activity in activities:
        period, silent = compute_period(activity.starts), now - activity.last_seen
        if period and silent > max(rule.periods * period, rule.least) and not has_ended(activity):
            yield StaleJob(job=activity.name, period=period, last_seen=activity.last_seen, silent=silent)


def compute_period(starts: tuple[int, ...]) -> int | None:
    """The median time between runs (µs), given newest first; None if there are too few."""
    return median_low([later - earlier for later, earlier in pairwise(starts)]) if len(starts) >= LEAST_RUNS else None


def has_ended(activity: JobActivity) -> bool:
    """Whether the job was decommissioned and has not run since."""
    if not activity.lifecycle or activity.last_seen > activity.since:
        return False
    return bool(json.loads(activity.lifecycle).get("state") == DECOMMISSIONED)


def make_decommission_event(job: JobName, at: int, reason: str) -> dict[str, Any]:
    """The OpenLineage event that decommissions a job at a time (µs) (docs/explanation/state.md, "Statements")."""
    facet = own_facet("LifecycleJobFacet", state=DECOMMISSIONED, reason=reason)
    return job_event(at, job, facets={LIFECYCLE: facet})
