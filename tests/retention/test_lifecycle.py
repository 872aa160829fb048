"""Which jobs are stale, and what it takes to end one."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from fixtures.readings_of_events import readings_of
from oracle.stories import START, Json, run, span_lines
from whence.derive.writing.merge import merge_chunk
from whence.govern.stale_jobs import (
    DAY,
    StalenessRule,
    compute_period,
    find_stale,
    list_stale_jobs,
    make_decommission_event,
)
from whence.model.names import JobName
from whence.openlineage.accept import accept
from whence.store.ingest.recompute import recompute
from whence.store.lifecycle.dump import dump
from whence.store.status.job_activity import JobActivity

JOB = JobName("n", "j")
HOURLY = tuple(100 * DAY - hour * DAY // 24 for hour in range(5))


def life(starts: tuple[int, ...], **more: Any) -> JobActivity:
    return JobActivity(name=JOB, starts=starts, last_seen=starts[0], **more)


def is_stale(one: JobActivity, days: float, **patience: Any) -> bool:
    now = one.last_seen + int(days * DAY)
    return bool(list(find_stale([one], now, StalenessRule(**patience))))


@pytest.mark.parametrize(
    ("starts", "days", "stale"),
    [
        (HOURLY, 6.9, False),  # three hours are not enough: a week is the least
        (HOURLY, 7.1, True),
        ((60 * DAY, 30 * DAY, 0), 89, False),  # monthly
        ((60 * DAY, 30 * DAY, 0), 91, True),
        ((60 * DAY, 59 * DAY, 58 * DAY, 28 * DAY), 7.1, True),  # a pause long ago is no period
        ((60 * DAY, 30 * DAY), 1_000, False),  # two runs tell no period
    ],
)
def test_a_job_is_stale_after_periods_of_its_own(starts: tuple[int, ...], days: float, stale: bool) -> None:
    assert is_stale(life(starts), days) is stale


def test_the_patience_is_a_choice() -> None:
    assert is_stale(life(HOURLY), 0.2, periods=3, least=0)
    assert not is_stale(life(HOURLY), 0.2, periods=10, least=0)


def test_a_job_that_ended_is_not_stale_until_it_runs_again() -> None:
    ended = {"lifecycle": '{"state":"DECOMMISSIONED"}', "since": HOURLY[0]}
    assert not is_stale(life(HOURLY, **ended), 30)
    assert is_stale(life(HOURLY, **ended | {"since": HOURLY[0] - 1}), 30)
    assert is_stale(life(HOURLY, **ended | {"lifecycle": '{"state":"ACTIVE"}'}), 30)


@given(st.lists(st.integers(0, 10**15), min_size=3, max_size=10).map(lambda some: tuple(sorted(some, reverse=True))))
def test_the_period_is_a_gap_that_half_of_the_gaps_reach(starts: tuple[int, ...]) -> None:
    gaps = [later - earlier for later, earlier in itertools.pairwise(starts)]
    period = compute_period(starts)
    assert period in gaps
    assert sum(gap <= period for gap in gaps) * 2 >= len(gaps)
    assert sum(gap >= period for gap in gaps) * 2 >= len(gaps)


def test_the_event_that_ends_a_job_is_accepted_and_ends_it(store: Engine) -> None:
    runs: list[Json] = [run(number, "COMPLETE", 10 * number, "a", "b") for number in (1, 2, 3)]
    end = make_decommission_event(JOB, START + 50_000_000, "moved to another team")
    assert accept(json.dumps(end).encode()).key
    readings = readings_of([json.dumps(one).encode() for one in (*runs, end, run(4, "COMPLETE", 55, "a", "b"))])
    settled = []
    for place, length in ((0, 3), (3, 1), (4, 1)):
        merge_chunk(store, readings[place : place + length])
        recompute(store, {"log": place + length + 1})
        stale = list_stale_jobs(store, START + 40 * DAY, StalenessRule())
        settled.append((span_lines(map(json.loads, dump(store))), [one.job for one in stale]))
    assert settled == [
        (["@j observed 10- sure: ~a>b"], [JOB]),
        (["@j observed 10-50 sure: ~a>b"], []),
        (["@j observed 10-50 sure: ~a>b", "@j observed 55- sure: ~a>b"], [JOB]),
    ]
    facets = [json.loads(line) for line in dump(store) if '"whence_lifecycle"' in line]
    assert [one["payload"]["reason"] for one in facets] == ["moved to another team"]
