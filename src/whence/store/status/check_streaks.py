"""Streaks of failed checks: the runs in which a check of a dataset failed, between two in which it held."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from whence.openlineage.facets.assertions import (
    ASSERTIONS,
    WARN,
    Assertion,
    is_assertions_facet,
    parse_assertions,
)
from whence.store.graph.run_facets import ReportedFacets, read_facets_between
from whence.store.status.failure_streaks import DAY, LAPSE

MOST_REPORTS = 20_000
"""Reports of runs that are read: the latest."""
_HISTORY = 60 * DAY
"""How far back reports are read to find where a streak begins."""


class CheckStreak(NamedTuple):
    """A check (its name, and its column or an empty text) that failed in runs without one between them in which it
    held. Ids of runs; times in µs.

    `good`: the last run before them in which it held, 0 if none is known; `lapsed`: whether it was not checked for
    LAPSE before this; `last`: the result of the last failed one; `until`: of the next run in which it held, or when the
    failure lapsed; None while it lasts.
    """

    dataset_id: int
    name: str
    column: str
    good: int
    lapsed: bool
    first: int
    since: int
    last_at: int
    last: Assertion
    until: int | None


class CheckedResult(NamedTuple):
    """What a run reported of a check of a dataset at a time (µs)."""

    run_id: int
    time: int
    dataset_id: int
    assertion: Assertion


class CheckStreaks(NamedTuple):
    """Streaks of all checks; whether all reports of the time were read; and all results in them, in order."""

    found: Sequence[CheckStreak]
    are_all: bool
    results: Sequence[CheckedResult] = ()


def read_check_streaks(connection: Connection, since: int, until: int) -> CheckStreaks:
    """The streaks with a failure after a time (µs) and not after another, as they were known then. Checks that only
    warn have none.
    """
    reports = read_facets_between(connection, ASSERTIONS, until - _HISTORY, until, MOST_REPORTS)
    results = list(_results(reports))
    found = find_streaks(results, until)
    return CheckStreaks([one for one in found if one.last_at > since], len(reports) < MOST_REPORTS, results)


def find_streaks(results: Iterable[CheckedResult], at: int) -> Iterator[CheckStreak]:
    """The streaks in results, which are in order, at a time (µs)."""
    current: dict[tuple[int, str, str], CheckStreak] = {}
    good: dict[tuple[int, str, str], int] = {}
    lapsed = set[tuple[int, str, str]]()
    for run_id, time, dataset_id, one in results:
        if one.severity == WARN:
            continue
        key = (dataset_id, one.name, one.column or "")
        streak = current.get(key)
        if streak is not None and (one.held or time > streak.last_at + LAPSE):
            yield streak._replace(until=min(time, streak.last_at + LAPSE))
            del current[key]
            lapsed.add(key)
        if one.held:
            good[key] = run_id
            lapsed.discard(key)
        elif key in current:
            current[key] = current[key]._replace(last_at=time, last=one)
        else:
            current[key] = CheckStreak(*key, good.get(key, 0), key in lapsed, run_id, time, time, one, None)
    for streak in current.values():
        lapse = streak.last_at + LAPSE
        yield streak._replace(until=lapse if lapse <= at else None)


def _results(reports: Iterable[ReportedFacets]) -> Iterator[CheckedResult]:
    for report in reports:
        for role, dataset_id, key, payload in report.facets:
            if is_assertions_facet(role, key):
                for one in parse_assertions(payload):
                    yield CheckedResult(report.run_id, report.time, dataset_id, one)
