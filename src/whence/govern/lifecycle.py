"""Which jobs have not been seen for so long that they may have ended, and the event that says of one that it has."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import Any

from sqlalchemy import Engine

from whence.model.names import JobName
from whence.openlineage.facets import DECOMMISSIONED, LIFECYCLE
from whence.openlineage.write import job_event, own_facet
from whence.store.engine import reading
from whence.store.lives import Life, read_lives

DAY = 86_400_000_000

LEAST_RUNS = 3
"""Fewer tell no period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """A job is stale if it was not seen for so many of its own periods, and for `least` µs."""

    periods: float = 3
    least: int = 7 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A job that was not seen for `silent` µs; it used to run every `period` µs."""

    job: JobName
    period: int
    last_seen: int
    silent: int


def stale_jobs(engine: Engine, now: int, patience: Patience) -> tuple[Stale, ...]:
    """Stale jobs at a time, by name; without those that are decommissioned."""
    with reading(engine) as connection:
        lives = read_lives(connection, LIFECYCLE)
    return tuple(find_stale(lives, now, patience))


def find_stale(lives: Iterable[Life], now: int, patience: Patience) -> Iterable[Stale]:
    """Those of the lives that are stale. Pure."""
    for life in lives:
        period, silent = period_of(life.starts), now - life.last_seen
        if period and silent > max(patience.periods * period, patience.least) and not has_ended(life):
            yield Stale(job=life.name, period=period, last_seen=life.last_seen, silent=silent)


def period_of(starts: tuple[int, ...]) -> int | None:
    """The median gap between runs (µs), newest first; None if there are too few."""
    return median_low([later - earlier for later, earlier in pairwise(starts)]) if len(starts) >= LEAST_RUNS else None


def has_ended(life: Life) -> bool:
    """Whether the job was decommissioned and has not run since."""
    if not life.lifecycle or life.last_seen > life.since:
        return False
    return bool(json.loads(life.lifecycle).get("state") == DECOMMISSIONED)


def decommission(job: JobName, at: int, reason: str) -> dict[str, Any]:
    """The OpenLineage event that says, at a time (µs), that a job runs no more (docs/state.md, "Statements")."""
    facet = own_facet("LifecycleJobFacet", state=DECOMMISSIONED, reason=reason)
    return job_event(at, job, facets={LIFECYCLE: facet})
