"""Times of incidents and downtime equal what counting minutes gives; weeks are those of ISO 8601."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from govern.incidents.random_incidents import RULES, act, random_estate
from govern.slos.minutes import MINUTE, is_open
from whence.govern.incidents.fold import fold_incidents
from whence.govern.incidents.incident import Incident
from whence.govern.reports.downtime import LASTS, Checks, Watch, measure_downtime
from whence.govern.reports.durations import Durations
from whence.govern.reports.incident_times import IncidentTimes, measure_response, times_of
from whence.govern.reports.period import ReportPeriod, read_report_period
from whence.govern.slos.calendars import DAY_MINUTES, Calendar, Maintenance
from whence.govern.slos.objectives import Freshness, Objective
from whence.govern.slos.records import Declaration, Transition
from whence.model.names import DatasetName
from whence.model.slo_records import DeclarationRecord, StateText, TransitionRecord
from whence.query.answers.instants import instant

DAY = DAY_MINUTES * MINUTE
BEGIN = instant("2026-10-22", 0)
"""The clock goes back on 25 October in Berlin, and on 1 November in New York."""
STATES: tuple[StateText, ...] = ("holds", "violated", "learning", "not evaluated", "suppressed", "ended")
NAME = DatasetName("postgres://prod:5432", "shop.orders\u202e")


def period(since: int, length: int, known: int) -> ReportPeriod:
    return ReportPeriod(since=since, end=since + length, until=since + known)


@pytest.mark.parametrize("seed", range(60))
def test_downtime_is_the_number_of_bad_minutes(seed: int) -> None:
    chance = random.Random(seed)
    week = period(BEGIN + chance.randrange(9) * DAY, 4 * DAY, chance.choice((4 * DAY, 2 * DAY + 77 * MINUTE)))
    watches = [_watch(chance, week, number) for number in range(chance.randrange(4))]
    checks = _checks(chance, week)
    found = measure_downtime(watches, checks, week)
    wrong, watched = _count_minutes(watches, checks, week)
    assert (found.wrong, found.watched) == (wrong * MINUTE, watched * MINUTE)
    assert found.known == (wrong * MINUTE if watched else None)


def _watch(chance: random.Random, week: ReportPeriod, number: int) -> Watch:
    """An objective that was changed, ended and declared again, and its transitions, all in whole minutes."""
    times = sorted({week.since + chance.randrange(-3_000, 6_000) * MINUTE for _ in range(chance.randrange(1, 4))})
    declared = [
        _declaration(chance, time, is_ended=place > 0 and chance.random() < 0.3) for place, time in enumerate(times)
    ]
    moments = sorted({week.since + chance.randrange(-4_000, 6_000) * MINUTE for _ in range(chance.randrange(8))})
    changes = [
        Transition(
            id=f"{number}.{time}",
            time=time,
            record=TransitionRecord(
                slo="s", service="shop", name="fresh", dataset=str(NAME), before="holds", after=chance.choice(STATES)
            ),
        )
        for time in moments
    ]
    return Watch(declarations=tuple(declared), transitions=tuple(changes))


def _declaration(chance: random.Random, time: int, *, is_ended: bool) -> Declaration:
    week = tuple(_hours(chance) for _ in range(7))
    calendar = Calendar(zone=chance.choice(("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu")), week=week)
    start = time + chance.randrange(3_000) * MINUTE
    maintenance = (Maintenance(start=start, end=start + 300 * MINUTE, reason="move"),) if chance.random() < 0.4 else ()
    objective = Objective(
        service="shop",
        name="fresh",
        dataset=NAME,
        indicator=Freshness(limit=DAY),
        target=Fraction(9, 10),
        calendar=calendar,
        maintenance=maintenance,
    )
    record = DeclarationRecord(service="shop", name="fresh", dataset=str(NAME), ended=is_ended)
    # A version that this Whence cannot read watches nothing.
    unread = chance.random() < 0.15
    return Declaration(
        id="s", record=record, dataset=NAME, time=time, objective=None if unread or is_ended else objective
    )


def _hours(chance: random.Random) -> tuple[tuple[int, int], ...]:
    if chance.random() < 0.3:
        return ()
    start = chance.randrange(0, 1_200)
    return ((start, chance.randrange(start + 1, DAY_MINUTES + 1)),)


def _checks(chance: random.Random, week: ReportPeriod) -> Checks:
    def some(most: int) -> list[int]:
        times = {week.since + chance.randrange(-15_000, 6_000) * MINUTE for _ in range(chance.randrange(most))}
        return sorted(time for time in times if time < week.until)

    failures = [
        (time, None if chance.random() < 0.2 else min(week.at, time + chance.randrange(4_000) * MINUTE))
        for time in some(3)
    ]
    whole = [(start, end if end is None else end // MINUTE * MINUTE) for start, end in failures]
    return Checks(results=tuple(some(3)), failures=tuple(whole))


def _count_minutes(watches: Sequence[Watch], checks: Checks, week: ReportPeriod) -> tuple[int, int]:
    """Minute by minute: what holds in it, and whether anybody would know."""
    wrong = watched = 0
    for minute in range(week.since // MINUTE, week.until // MINUTE):
        time = minute * MINUTE
        states = {_state(one, minute) for one in watches}
        fails = any(start <= time and (end is None or time < end) for start, end in checks.failures)
        checked = any(one <= time < one + LASTS for one in checks.results)
        wrong += "violated" in states or fails
        watched += bool(states & {"violated", "holds"}) or fails or checked
    return wrong, watched


def _state(one: Watch, minute: int) -> StateText | None:
    time = minute * MINUTE
    held = [each for each in one.declarations if each.time <= time]
    objective = held[-1].objective if held and not held[-1].record.ended else None
    changed = [each.record.after for each in one.transitions if each.time <= time]
    if objective is None or not changed or not is_open(objective.calendar, objective.maintenance, minute):
        return None
    return changed[-1]


@pytest.mark.parametrize("seed", range(80))
def test_times_to_detect_identify_and_resolve_are_numbers_of_minutes(seed: int) -> None:
    """The incidents of a random estate: cycles, several roots, and findings that begin and end at once."""
    chance, estate = random.Random(seed), random_estate(seed)
    acts = [act(one, "confirm", chance.randrange(60), cause=f"c{n}") for n, one in enumerate(estate.findings[:4])]
    at = chance.randrange(10, 60)
    known = [one for one in estate.findings if one.since <= at and (one.until is None or one.until <= at)]
    incidents = fold_incidents(known, estate.relation, [one for one in acts if one.time <= at], {}, RULES)
    received = {one.id: one.since + chance.randrange(-2, 40) for one in incidents if chance.random() < 0.8}
    since = chance.randrange(at)
    week = ReportPeriod(since=since, end=60, until=at + 1)
    found = measure_response([times_of(one, received, at) for one in incidents], week)
    expected = [_walk(one, received.get(one.id), at) for one in incidents]
    in_week = [(one, {name: t for name, t in one.items() if t is not None and t >= since}) for one in expected]
    assert found.began == sum("began" in new for _, new in in_week)
    assert found.open == sum(one["resolved"] is None for one in expected)
    assert found.resolved == sum("resolved" in new for _, new in in_week)
    unseen = [one for one, new in in_week if "resolved" in new and one["detected"] is not None and not _lasted(one)]
    assert found.over_unseen == len(unseen)
    assert found.detection.values == _sorted(
        _minutes(one["began"], one["detected"]) for one, new in in_week if "detected" in new
    )
    assert found.identification.values == _sorted(
        _minutes(one["detected"], one["identified"])
        for one, new in in_week
        if "identified" in new and one["detected"] is not None
    )
    assert found.resolution.values == _sorted(
        _minutes(one["detected"], one["resolved"])
        for one, new in in_week
        if "resolved" in new and one["detected"] is not None and _lasted(one)
    )


def _walk(one: Incident, received: int | None, at: int) -> dict[str, int | None]:
    """The moments of an incident, found by looking at every minute."""
    wrong = [any(each.is_open_at(minute) for each in one.findings) for minute in range(at + 1)]
    confirmed = [
        minute for minute in range(at + 1) for each in one.acts if each.time == minute and each.record.act == "confirm"
    ]
    last = max(minute for minute, is_wrong in enumerate(wrong) if is_wrong)
    detected = received if received is not None and received <= at else None
    return {
        "began": wrong.index(True),
        "detected": detected,
        "identified": confirmed[0] if confirmed else None,
        "resolved": None if wrong[-1] else last + 1,
    }


def _lasted(one: dict[str, int | None]) -> bool:
    return one["resolved"] is not None and one["detected"] is not None and one["detected"] < one["resolved"]


def _minutes(start: int | None, end: int | None) -> int:
    assert start is not None
    assert end is not None
    return sum(1 for minute in range(-10, 200) if start <= minute < end)


def _sorted(values: object) -> tuple[int, ...]:
    return tuple(sorted(values))  # type: ignore[call-overload]  # of a generator of integers


@pytest.mark.parametrize("seed", range(40))
def test_percentiles_are_those_of_the_definition(seed: int) -> None:
    chance = random.Random(seed)
    values = tuple(chance.randrange(30) for _ in range(chance.randrange(1, 25)))
    found = Durations(values=tuple(sorted(values)))
    least = next(one for one in range(30) if 10 * sum(value <= one for value in values) >= 9 * len(values))
    low, high = (sorted(values, reverse=is_high)[len(values) // 2] for is_high in (False, True))
    assert (found.p90, found.median) == (least, (low + high) / 2)


def test_nothing_is_known_of_no_duration() -> None:
    assert (Durations().median, Durations().p90) == (None, None)


def test_a_cause_counts_if_it_is_confirmed_within_half_an_hour() -> None:
    week = period(0, 7 * DAY, 7 * DAY)

    def detected(at: int, identified: int | None) -> IncidentTimes:
        return IncidentTimes(since=at - MINUTE, detected=at, identified=identified)

    several = [
        detected(DAY, DAY + 30 * MINUTE),
        detected(DAY, DAY + 31 * MINUTE),
        detected(DAY, None),
        detected(DAY, DAY - MINUTE),
        detected(week.until - 29 * MINUTE, None),
        IncidentTimes(since=DAY),
    ]
    found = measure_response(several, week)
    assert (found.confirmed, found.confirmable, found.undecided) == (2, 4, 1)
    assert (found.detection.unknown, found.identification.values) == (1, (0, 30 * MINUTE, 31 * MINUTE))


@pytest.mark.parametrize("day", range(0, 1_500, 13))
def test_weeks_are_those_of_the_calendar(day: int) -> None:
    now = instant("2024-01-03T11:00", 0) + day * DAY
    found = read_report_period("", None, None, now)
    monday = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=found.since)
    assert (monday.isoweekday(), monday.hour, found.end - found.since) == (1, 0, 7 * DAY)
    assert 0 <= now - found.end < 7 * DAY
    assert found.week == monday.strftime("%G-W%V")
    assert read_report_period(found.week, None, None, now) == found
    assert found.is_over


def test_a_period_that_has_not_begun_is_a_mistake() -> None:
    now = instant("2026-11-18T12:00", 0)
    current = read_report_period("2026-W47", None, None, now)
    assert (current.until, current.is_over) == (now, False)
    assert read_report_period("2026-W47", None, now - DAY, now + 9 * DAY).until == now - DAY
    assert read_report_period("", now, None, now) == ReportPeriod(since=now - 7 * DAY, end=now, until=now)
    for week, until, as_of in (
        ("2026-W48", None, None),
        ("2026-W47", None, now - 9 * DAY),
        ("2026-W54", None, None),
        ("2025-W53", None, None),
        ("", instant("0001-01-03", 0), None),
        ("W47", None, None),
        ("2026-W47", now, None),
    ):
        with pytest.raises(ValueError, match=r"."):
            read_report_period(week, until, as_of, now)
