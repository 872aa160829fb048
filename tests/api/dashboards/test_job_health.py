"""Failing and late jobs, against plain Python over the same runs."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from api.asked import asking
from api.dashboards.pages import paged
from api.dashboards.run_histories import HOUR, Ran, events, runs
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.api.dashboards.job_health import FAILED_WITHIN, REGULAR_WITHIN
from whence.model.events import RunState
from whence.model.names import JobName, RunName
from whence.openlineage.write import run_event
from whence.query.answers.instants import iso


def failing(history: list[Ran], now: int) -> set[str]:
    """Jobs that failed of late, and did not complete since."""
    found = set()
    for job in {one.job for one in history}:
        own = [one for one in history if one.job == job]
        good = max((one.ended for one in own if one.state is RunState.COMPLETE), default=0)
        bad = [one.ended for one in own if one.state is not RunState.COMPLETE and one.ended >= now - FAILED_WITHIN]
        if any(ended > good for ended in bad):
            found.add(str(job))
    return found


def late(history: list[Ran], now: int) -> set[str]:
    """Jobs that ran regularly for two days, and not for longer than they ever paused. What runs within a run that
    reports is that run's; what runs within one that does not is one run.
    """
    found = set()
    for job in {one.job for one in history}:
        own = [one for one in history if one.job == job and one.ended >= now - REGULAR_WITHIN]
        alone = [one.began for one in own if not one.within]
        shared = {one.within for one in own if one.within and not one.reports}
        starts = sorted(alone + [min(one.began for one in own if one.within == run) for run in shared])
        pauses = [b - a for a, b in pairwise(starts)]
        if len(starts) < 4 or sum(pauses) < 48 * HOUR or any(one.reports and one.began > starts[-1] for one in own):
            continue
        is_regular = max(pauses) * len(pauses) <= 3 * sum(pauses)
        if is_regular and now - starts[-1] > 1.25 * max(pauses):
            found.add(str(job))
    return found


def _scheduled(starts: list[float], copies: int = 1, reports: bool = False) -> Callable[[JobName, int], list[Ran]]:
    """Runs that began so many hours ago, `copies` of each at once within one run that reports nothing if many."""

    def of(job: JobName, now: int) -> list[Ran]:
        began = [(turn, now - round(hours * HOUR)) for turn, hours in enumerate(starts, 1)]
        return [
            Ran(
                job,
                at + copy * 3_000_000,
                at + 60_000_000,
                RunState.COMPLETE,
                turn if copies > 1 or reports else 0,
                reports,
            )
            for turn, at in began
            for copy in range(copies)
        ]

    return of


DAILY = [24.0 * day - 18 for day in range(1, 9)]
LATE_STORIES = {
    "minutes": (_scheduled([0.25 + minute / 60 for minute in range(6)]), False),
    "mapped": (_scheduled([1.0], copies=6), False),
    "mapped_daily": (_scheduled(DAILY, copies=3), False),
    "mapped_missed": (_scheduled([24.0 * day + 10 for day in range(1, 9)], copies=3), True),
    "two_periods": (_scheduled([60.0, 84.0, 108.0]), False),
    "script_days_ago": (_scheduled([72 + minute / 60 for minute in range(9)]), False),
    "daily": (_scheduled(DAILY), False),
    "stopped": (_scheduled([24.0 * day + 60 for day in range(1, 9)]), True),
    "stopped_for_good": (_scheduled([24.0 * day + 15 * 24 for day in range(1, 9)]), False),
    "irregular": (_scheduled([50.0, 51.0, 51.5, 52.0, 52.2, 160.0]), False),
    "clock_put_back": (_scheduled([25.0, 49.0, 73.0, 98.0, 122.0]), False),
    "action_of_a_script": (_scheduled(DAILY, reports=True), False),
}
"""By the name of the job: when it ran, and whether it is late."""


def test_only_what_is_scheduled_for_days_is_late(store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    history = [
        one
        for name, (story, _) in LATE_STORIES.items()
        for space in ("prod", "staging")
        for one in story(JobName(space, name), now)
    ]
    engine = open_migrated(store_url)
    apply_bodies(engine, [body for number, one in enumerate(history) for body in events(one, number)])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        found = client.get("/api/v2/troubles", trouble="late", limit=100).json["data"]["jobs"]
    wanted = {
        str(JobName(space, name))
        for name, (_, is_late) in LATE_STORIES.items()
        for space in ("prod", "staging")
        if is_late
    }
    assert {one["job"] for one in found} == wanted


@pytest.mark.parametrize("seed", range(4))
def test_jobs_in_trouble_are_those_that_plain_python_finds(seed: int, store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    history = runs(seed, now)
    engine = open_migrated(store_url)
    apply_bodies(engine, [body for number, one in enumerate(history) for body in events(one, number)])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        pages = list(paged(client, "/api/v2/troubles", limit=3))
        jobs = [one for page in pages for one in page["data"]["jobs"]]
    found = {kind: {one["job"] for one in jobs if one["trouble"] == kind} for kind in ("failing", "late")}
    assert found == {"failing": failing(history, now), "late": late(history, now)}
    assert len(jobs) == len(found["failing"]) + len(found["late"])
    assert (pages[0]["data"]["failing"], pages[0]["data"]["late"]) == (len(found["failing"]), len(found["late"]))
    for one in jobs:
        own = [ran for ran in history if str(ran.job) == one["job"]]
        good = max((ran.ended for ran in own if ran.state is RunState.COMPLETE), default=None)
        assert (one["last_good"] is None) == (good is None)
        if good is not None:
            assert datetime.fromisoformat(one["last_good"]["ended_at"]) == datetime.fromtimestamp(good / 1e6, UTC)


def test_a_failed_spark_action_is_in_trouble_with_its_exception(store_url: str, tmp_path: Path) -> None:
    """openlineage-spark ends a failed action with FAIL and, right after, with COMPLETE."""
    now = time.time_ns() // 1_000
    spark = RunName("0190b3a1-0000-7000-8000-000000000002", JobName("n", "script.save"))
    blank = RunName("0190b3a1-0000-7000-8000-000000000001", JobName("n", "load"))
    events = [
        run_event(now - HOUR, RunState.START, spark),
        run_event(now - HOUR + 5, RunState.FAIL, spark, run_facets={"spark.exception": {"message": "boom\n\tat x"}}),
        run_event(now - HOUR + 6, RunState.COMPLETE, spark),
        run_event(now, RunState.FAIL, blank, run_facets={"errorMessage": {"message": " \n "}}),
    ]
    engine = open_migrated(store_url)
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        jobs = client.get("/api/v2/troubles").json["data"]["jobs"]
        (run,) = client.get(f"/api/v2/runs/{spark.run_id}").json["data"]
    assert {one["job"]: one["last"]["error"] for one in jobs} == {"job:n:script.save": "boom", "job:n:load": None}
    assert (run["state"], run["error"]) == ("FAIL", "boom\n\tat x")
    assert run["ended_at"] == iso(now - HOUR + 5)
