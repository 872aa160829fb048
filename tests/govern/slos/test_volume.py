"""The two rules of volume on the series of the seed: how many false alarms, and how many drops of 40 % they find."""

import random

import pytest

from whence.govern.slos.evaluation.volume import Volumes, judge_volumes
from whence.govern.slos.objectives import DAY, Volume, VolumeRule

DAYS, LEARNED = 130, 60


def series(seed: int, *, weekend: float = 1.0, growth: float = 1.0, incidents: tuple[int, ...] = ()) -> list[float]:
    noise = random.Random(seed)
    return [
        10_000 * growth**day * (weekend if day % 7 in (5, 6) else 1) * (0.3 if day in incidents else 1)
        * noise.gauss(1, 0.05)
        for day in range(DAYS)
    ]  # fmt: skip


def shares(rule: VolumeRule, rows: list[float]) -> tuple[float, float]:
    """Of the days after the first ones: how many are false alarms, and how many drops of 40 % are found."""
    indicator = Volume(rule=rule, tolerance=3.0 if rule is VolumeRule.SIGMA else 4.0)
    times = tuple((4 + day) * DAY for day in range(DAYS))  # the first is a Monday
    false = [one.good is False for one in judge_volumes(indicator, Volumes(times=times, rows=tuple(rows)))[LEARNED:]]
    found = 0
    for day in range(LEARNED, DAYS):
        dropped = (*rows[:day], rows[day] * 0.6)
        last = judge_volumes(indicator, Volumes(times=times[: day + 1], rows=dropped))[-1]
        found += last.good is False
    return sum(false) / len(false), found / (DAYS - LEARNED)


@pytest.mark.parametrize(
    ("name", "weekend", "growth", "incidents"),
    [("flat", 1.0, 1.0, ()), ("weekend", 0.4, 1.0, ()), ("incidents", 0.4, 1.0, (30, 55)), ("growth", 1.0, 1.003, ())],
)
def test_the_robust_rule_finds_drops(name: str, weekend: float, growth: float, incidents: tuple[int, ...]) -> None:
    false, found = shares(VolumeRule.ROBUST, series(7, weekend=weekend, growth=growth, incidents=incidents))
    assert (false <= 0.02, found >= 0.98) == (True, True), (name, false, found)


def test_three_sigma_are_blind_where_weekends_are_quiet() -> None:
    assert shares(VolumeRule.SIGMA, series(7, weekend=0.4)) == (0.0, 0.0)
    false, found = shares(VolumeRule.SIGMA, series(7))
    assert found == 1.0
    assert false <= 0.05


def test_a_series_that_never_varied_allows_a_little() -> None:
    times = tuple(day * DAY for day in range(31))
    (*_, last) = judge_volumes(Volume(), Volumes(times=times, rows=(*[100.0] * 30, 101.0)))
    assert last.good is True
    (*_, last) = judge_volumes(Volume(), Volumes(times=times, rows=(*[100.0] * 30, 90.0)))
    assert last.good is False
    (*_, last) = judge_volumes(Volume(), Volumes(times=times, rows=(*[100.0] * 30, 0.0)))
    assert last.good is False
