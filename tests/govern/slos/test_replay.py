"""Backtests: the same transitions in any order of arrival, what hysteresis saves, and what a backtest costs."""

import json
import random
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import pytest

from govern.slos.minutes import is_open, stale_minutes
from govern.slos.random_objectives import BEGIN, LENGTH, random_facts, random_objectives, shuffled
from govern.slos.test_judge import DATASET, DAY, FACTS, HOUR, MINUTE, MONDAY, OFFICE, fresh
from whence.govern.slos.burn_rates import DEFAULT_BURN_RATES, can_open, factor_of, open_time_of, threshold
from whence.govern.slos.calendars import ALWAYS, Calendar
from whence.govern.slos.evaluation.facts import Facts, Write
from whence.govern.slos.evaluation.judge import judge
from whence.govern.slos.evaluation.transitions import replay
from whence.govern.slos.objectives import BurnRate, Freshness, Notify, Objective, kind_of_indicator
from whence.govern.slos.recording import find_new_transitions
from whence.govern.slos.records import Declaration, declaration_of, transition_event
from whence.model.names import DatasetName
from whence.model.slo_records import slo_id

BACKTESTED, BACKTESTED_LONG = 150, 1_000
"""Tables, ordinarily and with `--long`."""


def declared(one: Objective) -> Declaration:
    id_ = slo_id(one.dataset.namespace, one.service, one.name)
    return Declaration(id=id_, record=declaration_of(one), dataset=one.dataset, time=BEGIN, objective=one)


def test_any_order_of_arrival_gives_the_same_bytes() -> None:
    """Of every kind of indicator, replayed and recorded."""
    changed = dict[str, int]()
    for seed in range(12):
        rng = random.Random(seed)
        objectives, facts = random_objectives(rng), random_facts(rng)
        expected = replay(objectives, facts, BEGIN, BEGIN + LENGTH)
        recorded = _record(objectives, facts)
        for _ in range(2):
            other = shuffled(rng, facts)
            found = replay(rng.sample(objectives, len(objectives)), other, BEGIN, BEGIN + LENGTH)
            assert repr(found).encode() == repr(expected).encode()
            assert _record(objectives, other) == recorded
        for one in objectives:
            kind = kind_of_indicator(one.indicator)
            changed[kind] = changed.get(kind, 0) + sum(each.objective == one.name for each in expected)
    assert len(changed) == 8
    assert min(changed.values()) > 12, changed


def _record(objectives: Sequence[Objective], facts: Mapping[DatasetName, Facts]) -> bytes:
    changes = (
        transition_event(each.record, one.dataset.namespace, each.time)
        for one in objectives
        for each in find_new_transitions([declared(one)], None, facts, BEGIN + LENGTH)
    )
    return b"\n".join(json.dumps(one).encode() for one in changes)


@pytest.mark.parametrize(("calendar", "expected"), [(OFFICE, 69), (ALWAYS, 164)])
def test_without_hysteresis_the_same_days_page_dozens_of_times(calendar: Calendar, expected: int) -> None:
    """Minute by minute: how often a pair of windows begins to burn while no other does. With hysteresis it is four
    pages at most.
    """
    one, first = fresh(calendar=calendar), MONDAY // MINUTE
    opened = [is_open(calendar, (), first + minute) for minute in range(21 * 1_440)]
    written = {each.time // MINUTE for each in FACTS.writes}
    assert isinstance(one.indicator, Freshness)
    stale = stale_minutes(opened, first, written, one.indicator.limit // MINUTE, business=False)
    usual = open_time_of(calendar, one.window)
    pairs = [
        [
            _burning(stale.bad, length, threshold(factor_of(rate, usual), length, one.target))
            for length in (rate.long, rate.short)
        ]
        for rate in one.burn_rates
        if rate.notify is Notify.PAGE
    ]
    burns = [any(long[at] and short[at] for long, short in pairs) for at in range(len(stale.bad) + 1)]
    assert sum(now and not before for before, now in pairwise([False, *burns])) == expected
    replayed = replay([one], {DATASET: FACTS}, MONDAY, MONDAY + 21 * DAY)
    assert 1 <= sum(each.begins and each.notify is Notify.PAGE for each in replayed) <= 4


def _burning(bad: Sequence[bool], window: int, least: int) -> list[bool]:
    """After each open minute: whether so much of the window (µs) before was bad."""
    total, minutes = [0, *accumulate(bad)], window // MINUTE
    return [(total[at] - total[max(0, at - minutes)]) * MINUTE >= least for at in range(len(total))]


def test_an_alert_is_refused_if_and_only_if_an_endless_outage_does_not_open_it() -> None:
    counts = [0, 0]
    for seed in range(400):
        rng = random.Random(seed)
        week = tuple(((0, 60 * rng.choice((4, 12, 24))),) if rng.random() < 0.8 else () for _ in range(7))
        calendar = Calendar(week=week) if any(week) else ALWAYS
        target = Fraction(rng.choice((500, 800, 900, 930, 990, 995)), 1_000)
        long = rng.choice((1, 6, 24, 72, 200)) * HOUR
        rate = BurnRate(
            budget=Fraction(rng.randint(1, 60), 100), long=long, short=long // rng.randint(2, 12), notify=Notify.PAGE
        )
        one = fresh(target=target, calendar=calendar, burn_rates=(rate,))
        is_possible = can_open(rate, target, open_time_of(calendar, one.window))
        # Written once: all open time from half an hour later on is bad, for more than the long window.
        found = judge(one, Facts(writes=(Write(time=MONDAY),)), MONDAY + 89 * DAY)
        enough = open_time_of(calendar, 88 * DAY) > rate.long and rate.long <= open_time_of(calendar, one.window)
        if enough:
            assert bool(found.alerts) == is_possible, seed
        else:
            assert not is_possible
        counts[is_possible] += 1
    assert min(counts) > 80


def test_a_backtest_of_a_thousand_hourly_tables_over_90_days_takes_less_than_ten_seconds(
    pytestconfig: pytest.Config,
) -> None:
    """A hundredth of a second for each. CPU time: other tests may run beside it."""
    tables = BACKTESTED_LONG if pytestconfig.getoption("long") else BACKTESTED
    objectives, facts = list[Objective](), dict[DatasetName, Facts]()
    for number in range(tables):
        rng, name = random.Random(number), DatasetName("postgres://prod:5432", f"t{number}")
        late = [hour * HOUR + rng.randrange(25 * MINUTE) for hour in range(90 * 24) if rng.random() < 0.99]
        facts[name] = Facts(writes=tuple(Write(time=MONDAY + each, rows=100) for each in late))
        objectives.append(
            Objective(
                service="shop",
                name="fresh",
                dataset=name,
                indicator=Freshness(limit=80 * MINUTE),
                target=Fraction(99, 100),
                calendar=OFFICE if number % 2 else ALWAYS,
                burn_rates=DEFAULT_BURN_RATES,
            )
        )
    began = time.process_time()
    found = replay(objectives, facts, MONDAY, MONDAY + 90 * DAY)
    assert time.process_time() - began < tables / 100
    assert len({one.dataset for one in found}) == tables
    assert any(one.notify is Notify.PAGE for one in found)
