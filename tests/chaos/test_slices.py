"""What the schedules of an ordinary run contain, so that none of it is missing unnoticed."""

import json
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

import oracle
from chaos.schedule import Moment, Way, schedule_of
from chaos.slices import slice_of

SEEDS = range(20)


def test_a_seed_says_all() -> None:
    one, again = (schedule_of(7, ["api", "jvm"], list(Way), list(Moment)) for _ in range(2))
    assert one == again


@pytest.mark.parametrize("seed", SEEDS)
def test_all_that_is_said_arrives_and_nothing_else(seed: int) -> None:
    slice_ = slice_of(seed)
    arrived = {oracle.read(one.body).key for one in slice_.arrivals if one.kind != "malformed"}
    assert arrived == {oracle.read(one).key for one in slice_.in_order}
    assert all(slice_.mark.encode() in one for one in slice_.in_order)


def test_what_makes_a_stream_hard_is_there() -> None:
    slices = [slice_of(seed) for seed in SEEDS]
    kinds = Counter(one.kind for slice_ in slices for one in slice_.arrivals)
    assert min(kinds["event"], 10 * kinds["duplicate"], 50 * kinds["malformed"]) > 500
    events = [json.loads(body) for slice_ in slices for body in slice_.in_order]
    assert sum("job" not in one for one in events) > 5
    assert sum("run" not in one and "job" in one for one in events) > 5
    assert ended_before_they_started(events) > 10
    arriving = [[oracle.read(one.body).time for one in slice_.arrivals if one.kind == "event"] for slice_ in slices]
    out_of_order = [any(earlier > later for earlier, later in pairwise(times)) for times in arriving]
    assert sum(out_of_order) >= len(SEEDS) - 1


def ended_before_they_started(events: list[dict[str, object]]) -> int:
    """How many runs did, by the clocks of their hosts."""
    times: dict[str, dict[object, str]] = defaultdict(dict)
    for one in events:
        if isinstance(run := one.get("run"), dict):
            times[run["runId"]][one["eventType"]] = str(one["eventTime"])
    return sum(one["COMPLETE"] < one["START"] for one in times.values() if "COMPLETE" in one and "START" in one)


def test_every_act_sends_something_under_its_lock() -> None:
    acts = [act for seed in SEEDS for act in schedule_of(seed, ["api", "jvm"], list(Way), list(Moment)).acts]
    assert {act.moment for act in acts} == set(Moment)
    assert {parcel.way for act in acts for parcel in act.parcels} == set(Way)
    assert all(act.after < len(act.parcels) for act in acts)
