"""Freshness and burn rates equal a brute force minute by minute, through changes of the clock."""

from datetime import UTC, date, datetime
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from govern.slos.minutes import MINUTE, Stale, alert_minutes, is_open, stale_minutes
from whence.govern.slos.calendars import Calendar, Hours, Maintenance
from whence.govern.slos.evaluation.alerts import burn_alerts
from whence.govern.slos.evaluation.facts import Facts, Write
from whence.govern.slos.evaluation.freshness import Staleness, find_staleness
from whence.govern.slos.evaluation.judge import Judgement, Outcome, judge
from whence.govern.slos.evaluation.open_time import FOREVER, OpenTime, open_time
from whence.govern.slos.objectives import Age, BurnRate, Freshness, Notify, Objective
from whence.model.names import DatasetName

DATASET = DatasetName("postgres://shop:5432", "shop.public.revenue")
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca")
"""Lord Howe changes its clock by half an hour."""
CHANGES = (
    date(2026, 3, 28),
    date(2026, 10, 24),
    date(2026, 3, 7),
    date(2026, 10, 31),
    date(2026, 4, 4),
    date(2026, 7, 1),
)
"""Days before changes of the clock in these zones, and one without."""


@st.composite
def hours(draw: st.DrawFn) -> Hours:
    edges = sorted(draw(st.sets(st.integers(0, 1_440), max_size=4)))
    return tuple(zip(edges[::2], edges[1::2], strict=False))


@st.composite
def calendars(draw: st.DrawFn) -> Calendar:
    week = tuple(draw(st.sampled_from([draw(hours()), ((0, 1_440),), ((480, 1_080),)])) for _ in range(7))
    days = draw(st.dictionaries(st.sampled_from(CHANGES), hours(), max_size=2))
    return Calendar(zone=draw(st.sampled_from(ZONES)), week=week, exceptions=tuple(sorted(days.items())))


@st.composite
def maintenances(draw: st.DrawFn, first: int, length: int) -> tuple[Maintenance, ...]:
    some = draw(st.lists(st.tuples(st.integers(-100, length), st.integers(1, 600)), max_size=2))
    return tuple(
        Maintenance(start=(first + at) * MINUTE, end=(first + at + long) * MINUTE, reason="upgrade")
        for at, long in some
    )


LENGTH = 3 * 1_440


class Story:
    """A few days around a change of the clock, with writes."""

    def __init__(self, data: st.DataObject) -> None:
        day = data.draw(st.sampled_from(CHANGES))
        self.first = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) // 60
        self.calendar = data.draw(calendars())
        self.maintenance = data.draw(maintenances(self.first, LENGTH))
        at = st.integers(self.first, self.first + LENGTH - 1)
        self.writes = sorted(data.draw(st.sets(at, min_size=1, max_size=12)))
        self.limit = data.draw(st.integers(1, 900))
        self.age = data.draw(st.sampled_from(list(Age)))

    def brute(self, until: int = LENGTH) -> Stale:
        opened = [is_open(self.calendar, self.maintenance, self.first + minute) for minute in range(until)]
        is_business = self.age is Age.BUSINESS
        return stale_minutes(opened, self.first, self.writes, self.limit, business=is_business)

    @property
    def indicator(self) -> Freshness:
        return Freshness(limit=self.limit * MINUTE, age=self.age)

    @property
    def facts(self) -> Facts:
        return Facts(writes=tuple(Write(time=one * MINUTE) for one in self.writes))

    def exact(self) -> tuple[OpenTime, Staleness]:
        end = (self.first + LENGTH) * MINUTE
        found = open_time(self.calendar, self.maintenance, self.writes[0] * MINUTE, end)
        return found, find_staleness(self.indicator, self.facts.writes, found, end)

    def judge(self, minute: int) -> Judgement:
        objective = Objective(
            service="shop",
            name="fresh",
            dataset=DATASET,
            indicator=self.indicator,
            target=Fraction(9, 10),
            calendar=self.calendar,
            maintenance=self.maintenance,
        )
        return judge(objective, self.facts, (self.first + minute) * MINUTE)


def bad_minutes(stale: Staleness) -> set[int]:
    """As numbers of open minutes."""
    assert not (stale.starts % MINUTE).any()
    return {
        minute
        for start, end in zip(stale.starts // MINUTE, stale.ends // MINUTE, strict=True)
        for minute in range(int(start), int(end))
    }


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_bad_time_equals_that_of_every_minute(data: st.DataObject) -> None:
    story = Story(data)
    brute, (found, stale) = story.brute(), story.exact()
    assert int((found.ends - found.starts).sum()) == len(brute.minutes) * MINUTE
    assert bad_minutes(stale) == {index for index, bad in enumerate(brute.bad) if bad}


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_open_time_is_a_coordinate(data: st.DataObject) -> None:
    story = Story(data)
    brute, (found, _) = story.brute(), story.exact()
    starts = np.array([minute * MINUTE for minute in brute.minutes], dtype=np.int64)
    passed = np.arange(len(starts), dtype=np.int64) * MINUTE
    assert found.passed(starts).tolist() == passed.tolist()
    assert found.resumed(passed).tolist() == starts.tolist()
    assert found.reached(passed + MINUTE).tolist() == (starts + MINUTE).tolist()
    assert found.resumed(np.array([len(starts) * MINUTE])).tolist() == [FOREVER]


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_alerts_equal_those_of_every_minute(data: st.DataObject) -> None:
    """The windows and thresholds are whole minutes here, so that the oracle is exact."""
    story = Story(data)
    brute, (found, stale) = story.brute(), story.exact()
    short, times, least = data.draw(st.integers(2, 90)), data.draw(st.integers(1, 8)), data.draw(st.integers(1, 60))
    least, long = max(2, min(least, short) // 2 * 2), short * times
    target = Fraction(data.draw(st.integers(10, 99)), 100)
    usual = Fraction(10_000 * MINUTE)
    budget = Fraction(least * times * MINUTE) / ((1 - target) * usual)
    rate = BurnRate(budget=budget, long=long * MINUTE, short=short * MINUTE, notify=Notify.PAGE)
    end = len(brute.minutes) * MINUTE
    alerts = list(burn_alerts(rate, target, usual, (stale.starts, stale.ends), found, end))
    expected = alert_minutes(brute, long, short, least * times, least)
    minute_after = [*(minute + 1 for minute in brute.minutes)]
    assert [one.start for one in alerts] == [minute_after[start - 1] * MINUTE for start, _ in expected]
    # An alert closes one microsecond after the last moment at which the long window still burns.
    ends = [None if last is None else brute.minutes[last - 1] * MINUTE + 1 for _, last in expected]
    assert [one.end for one in alerts] == ends


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_an_answer_at_any_time_is_that_of_the_minute(data: st.DataObject) -> None:
    """At each minute: violated if it is open and bad, or if the data have been too old since an open one."""
    story = Story(data)
    minute = data.draw(st.integers(story.writes[0] - story.first + 1, LENGTH))
    found = story.judge(minute)
    past = Story.__new__(Story)
    past.__dict__.update(story.__dict__, writes=[one for one in story.writes if one <= story.first + minute])
    brute = past.brute(minute)
    since_last_write = [bad for at, bad in zip(brute.minutes, brute.bad, strict=True) if at >= past.writes[-1]]
    is_new = past.writes[-1] == story.first + minute
    assert (found.outcome is Outcome.VIOLATED) == (any(since_last_write) and not is_new)
    assert found.budget is not None
    assert (found.budget.bad, found.budget.total) == (sum(brute.bad) * MINUTE, len(brute.bad) * MINUTE)
    if found.outcome is Outcome.VIOLATED:
        first = next(at for at, bad in zip(brute.minutes, brute.bad, strict=True) if bad and at >= past.writes[-1])
        assert found.since == first * MINUTE


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_what_was_judged_does_not_change_as_time_passes(data: st.DataObject) -> None:
    story = Story(data)
    early = story.judge(data.draw(st.integers(story.writes[0] - story.first + 1, LENGTH)))
    late = story.judge(LENGTH)
    for before, after in zip(early.violations, late.violations, strict=False):
        assert before.start == after.start
        assert before.end in (None, after.end)


def test_a_clock_that_is_put_forward_shortens_the_night() -> None:
    night = Calendar(zone="Europe/Berlin", week=(((120, 300),),) * 7)
    start = int(datetime(2026, 3, 29, tzinfo=UTC).timestamp()) * 1_000_000
    found = open_time(night, (), start, start + 86_400_000_000)
    assert [int(one) // MINUTE for one in found.ends - found.starts] == [120]
    start = int(datetime(2026, 10, 25, tzinfo=UTC).timestamp()) * 1_000_000
    found = open_time(night, (), start - 3_600_000_000, start + 80_000_000_000)
    assert int((found.ends - found.starts).sum()) // MINUTE == 240
