"""`slos.yaml` is a closed schema: what it says is read exactly, and each mistake has its file and line."""

import re
from datetime import date
from fractions import Fraction

import pytest

from whence.errors import RulesFileError
from whence.govern.slos.burn_rates import DEFAULT_BURN_RATES, factor_of, open_time_of
from whence.govern.slos.calendars import Calendar, hours_on
from whence.govern.slos.objectives import (
    Age,
    Check,
    Delivery,
    Freshness,
    Lineage,
    LineageMetric,
    Measured,
    Misses,
    Notify,
    Objective,
    Quality,
    SchemaStability,
    Volume,
    VolumeRule,
)
from whence.govern.slos.slo_file import read_slos
from whence.model.names import DatasetName

HOUR = 3_600_000_000
TEXT = """\
version: 1
service: shop
calendars:
  office:
    timeZone: Europe/Berlin
    open:
      mon-thu: 08:00-18:00
      fri: [08:00-12:00, 13:00-17:00]
    holidays: {country: de, subdivision: BE}
    exceptions:
      2026-12-24: 08:00-12:00
      2026-12-28: closed
maintenance:
  - {from: 2026-11-28T20:00+01:00, until: 2026-11-29T04:00+01:00, reason: upgrade}
  - {from: 2026-11-28T20:00Z, until: 2026-11-29T04:00Z, reason: move, dataset: dataset:postgres://dev:5432:shop.orders}
slos:
  - name: revenue is fresh
    dataset: dataset:postgres://prod:5432:shop.revenue
    indicator:
      freshness: {limit: 30m, age: business}
    objective: {target: 99.5%}
    timeWindow: {duration: 28d, isRolling: true}
    budgetingMethod: Timeslices
    calendar: office
"""
ALERTS = """\
    alerting:
"""
ORDERS = """\
  - name: {name}
    dataset: dataset:postgres://prod:5432:shop.orders
    indicator: {indicator}
    objective: {{target: 0.95}}
"""

VOLUME = ORDERS.format(name="orders", indicator="{volume: {}}")


def read(text: str) -> tuple[Objective, ...]:
    return read_slos(text, "slos.yaml").objectives


def with_indicator(indicator: str) -> Objective:
    (_, found) = read(TEXT + ORDERS.format(name="orders", indicator=indicator))
    return found


def test_all_of_an_objective_is_read() -> None:
    (one,) = read(TEXT)
    assert (one.service, one.name, one.place) == ("shop", "revenue is fresh", "slos.yaml:17")
    assert one.dataset == DatasetName("postgres://prod:5432", "shop.revenue")
    assert one.indicator == Freshness(limit=HOUR // 2, age=Age.BUSINESS)
    assert (one.target, one.window) == (Fraction("0.995"), 28 * 24 * HOUR)
    assert (one.calendar.zone, one.calendar.weekly) == ("Europe/Berlin", 48 * HOUR)
    assert [some.reason for some in one.maintenance] == ["upgrade"]
    assert one.maintenance[0].end - one.maintenance[0].start == 8 * HOUR
    assert one.burn_rates == DEFAULT_BURN_RATES
    assert one.misses == ()


def test_an_exception_wins_over_a_holiday_and_a_holiday_over_the_week() -> None:
    (one,) = read(TEXT)
    days = [date(2026, 12, day) for day in (18, 24, 25, 28, 29)] + [date(2027, 3, 8), date(2028, 3, 8)]
    assert hours_on(one.calendar, days) == [
        ((480, 720), (780, 1_020)),  # a Friday
        ((480, 720),),
        (),  # Christmas
        (),
        ((480, 1_080),),
        (),  # Women's Day, in Berlin and not in all of Germany
        (),
    ]


@pytest.mark.parametrize(
    ("indicator", "expected"),
    [
        ("{freshness: {limit: 24h}}", Freshness(limit=24 * HOUR)),
        ("{delivery: {by: 06:00}}", Delivery(by=360)),
        ("{delivery: {by: 18:30, within: 4h, rows: 100}}", Delivery(by=1_110, within=4 * HOUR, rows=100)),
        (
            "{quality: {metric: nullValues, column: total_usd, unit: percent, mustBeLessThan: 0.5}}",
            Quality(metric="nullValues", column="total_usd", unit="percent", operators={"mustBeLessThan": 0.5}),
        ),
        (
            "{quality: {metric: rowCount, mustBeBetween: [1, 100]}}",
            Quality(metric="rowCount", operators={"mustBeBetween": [1, 100]}),
        ),
        (
            "{measurement: {metric: sum, column: total_usd, mustBeGreaterThan: -1.5}}",
            Measured(metric="sum", column="total_usd", operators={"mustBeGreaterThan": -1.5}),
        ),
        ("{check: {assertion: not_null, column: id}}", Check(assertion="not_null", column="id")),
        ("{volume: {}}", Volume()),
        ("{volume: {rule: sigma}}", Volume(rule=VolumeRule.SIGMA, tolerance=3.0)),
        ("{volume: {history: 28, tolerance: 5}}", Volume(history=28, tolerance=5.0)),
        ("{schema: {}}", SchemaStability()),
        ("{schema: {added: true}}", SchemaStability(added=True)),
        (
            "{lineage: {metric: coverage, atLeast: 60%}}",
            Lineage(metric=LineageMetric.COVERAGE, bound=Fraction(6, 10)),
        ),
        (
            "{lineage: {metric: unknownUpstream, atMost: 0.05}}",
            Lineage(metric=LineageMetric.UNKNOWN_UPSTREAM, bound=Fraction(5, 100)),
        ),
        (
            "{lineage: {metric: captureLatency, atMost: 5m}}",
            Lineage(metric=LineageMetric.CAPTURE_LATENCY, bound=Fraction(HOUR // 12)),
        ),
        ("{lineage: {metric: loss}}", Lineage(metric=LineageMetric.LOSS)),
    ],
)
def test_each_indicator_is_read(indicator: str, expected: object) -> None:
    assert with_indicator(indicator).indicator == expected


@pytest.mark.parametrize(
    ("indicator", "reason"),
    [
        ("{lineage: {}}", "'metric' is missing"),
        ("{lineage: {metric: latency}}", "write one of coverage, unknownUpstream, captureLatency, loss"),
        ("{lineage: {metric: coverage}}", "'atLeast' is missing"),
        ("{lineage: {metric: coverage, atMost: 5%}}", "coverage has no 'atMost'; write atLeast"),
        ("{lineage: {metric: coverage, atLeast: 60}}", "write a share"),
        ("{lineage: {metric: captureLatency, atMost: 5%}}", "5%"),
        ("{lineage: {metric: loss, atMost: 1%}}", "loss has no bound"),
        ("{lineage: {metric: loss, bound: 1%}}", "bound"),
    ],
)
def test_a_mistake_in_an_indicator_of_lineage_is_refused(indicator: str, reason: str) -> None:
    with pytest.raises(RulesFileError, match=re.escape(reason)):
        with_indicator(indicator)


def test_an_objective_alone_is_the_same_objective() -> None:
    """What is recorded of it: with its calendar and its maintenance, without the other objectives."""
    for one in read(TEXT + VOLUME):
        (again,) = read(one.text)
        assert (again.text, again.calendar, again.maintenance) == (one.text, one.calendar, one.maintenance)
        assert (again.indicator, again.target, again.burn_rates, again.misses) == (
            one.indicator,
            one.target,
            one.burn_rates,
            one.misses,
        )
    (fresh, orders) = read(TEXT + VOLUME)
    assert "office" in fresh.text
    assert "office" not in orders.text


def test_misses_are_counted() -> None:
    found = with_indicator("{volume: {}}")
    assert found.misses == (Misses(bad=1, of=1, notify=Notify.TICKET),)
    text = TEXT + VOLUME
    (_, found) = read(text + ALERTS + "      - {bad: 2, of: 3, notify: page}\n")
    assert found.misses == (Misses(bad=2, of=3, notify=Notify.PAGE),)
    (_, found) = read(text + "    alerting: []\n")
    assert found.misses == ()


@pytest.mark.parametrize(
    ("weekly_hours", "factors"),
    [
        # The SRE workbook's month of 720 hours; and 162 open hours, where the same shares are other factors.
        (168, [14.4, 6, 1]),
        (37.8, [3.24, 1.35, 0.225]),
    ],
)
def test_factors_follow_from_the_open_hours(weekly_hours: float, factors: list[float]) -> None:
    week = (((0, round(weekly_hours * 60 / 7)),),) * 7
    calendar = Calendar(week=week)
    usual = open_time_of(calendar, 30 * 24 * HOUR)
    assert [float(factor_of(one, usual)) for one in DEFAULT_BURN_RATES] == factors


def test_default_alerts_that_cannot_open_are_left_out() -> None:
    """At a target of 93 % a budget burns at most 14.28 times too fast."""
    text = TEXT.replace("    calendar: office\n", "")
    (one,) = read(text.replace("99.5%", "93%").replace("28d", "30d"))
    assert [rate.budget for rate in one.burn_rates] == [Fraction(5, 100), Fraction(10, 100)]
    (one,) = read(text.replace("99.5%", "93.1%").replace("28d", "30d"))
    assert one.burn_rates == DEFAULT_BURN_RATES


BURN = "      - {{{how}, longWindow: {long}, shortWindow: 5m, notify: page}}\n"


@pytest.mark.parametrize(
    ("target", "how", "long", "reason"),
    [
        (
            "93%",
            "factor: 14.4",
            "1h",
            "14.4, and with a target of 93 % the budget burns at most 14.29",
        ),
        ("93%", "budget: 10%", "1h", "its factor is 19.2"),
        ("50%", "factor: 2.01", "1h", "its factor is 2.01"),
        ("99.5%", "budget: 2%", "200h", "longer than the 192 open hours"),
    ],
)
def test_an_alert_that_can_never_open_is_refused(target: str, how: str, long: str, reason: str) -> None:
    text = TEXT.replace("99.5%", target) + ALERTS + BURN.format(how=how, long=long)
    with pytest.raises(RulesFileError, match=f"can never open: .*{reason}") as caught:
        read(text)
    assert str(caught.value).startswith("slos.yaml:26: ")


@pytest.mark.parametrize(("target", "how"), [("93%", "factor: 14.28"), ("50%", "factor: 2"), ("99.5%", "budget: 100%")])
def test_an_alert_that_can_open_is_not(target: str, how: str) -> None:
    (one,) = read(TEXT.replace("99.5%", target) + ALERTS + BURN.format(how=how, long="1h"))
    assert len(one.burn_rates) == 1


@pytest.mark.parametrize(
    ("before", "after", "line", "reason"),
    [
        ("limit: 30m", "limits: 30m", 20, "no key 'limits' belongs here; did you mean 'limit'"),
        ("target: 99.5%", "target: 99.5%, targt: 1", 21, "no key 'targt' belongs here; did you mean 'target'"),
        ("timeWindow", "timewindow", 22, "did you mean 'timeWindow'"),
        ("target: 99.5%", "target: 100%", 21, "below 100 %"),
        ("target: 99.5%", "target: 0", 21, "above 0 %"),
        ("target: 99.5%", "target: -1%", 21, "not negative"),
        ("target: 99.5%", "target: NaN", 21, "not negative"),
        ("target: 99.5%", "target: 1e999999", 21, "not negative"),
        ("Timeslices", "Occurrences", 17, "the budgetingMethod of this indicator is Timeslices"),
        ("calendar: office", "calendar: offce", 24, "no calendar is named 'offce'; the file has office"),
        ("isRolling: true", "isRolling: false", 22, "rolling"),
        ("28d", "1h", 22, "from 1d to 366d"),
        ("limit: 30m", "limit: soon", 20, "not a duration"),
        ("limit: 30m", "limit: 0m", 20, "longer than zero"),
        ("age: business", "age: young", 20, "wall"),
        ("Europe/Berlin", "Europe/Berlim", 5, "no time zone is named"),
        ("Europe/Berlin", "../../etc/passwd", 5, "no time zone is named"),
        ("mon-thu", "mon-fri", 8, "fri is here twice"),
        ("mon-thu", "thu-mon", 7, "the earlier day first"),
        ("mon-thu", "monday", 7, "write a day"),
        ("08:00-18:00", "18:00-08:00", 7, "such as 08:00-18:00"),
        ("08:00-18:00", "08:00-24:01", 7, "such as 08:00-18:00"),
        ("13:00-17:00", "11:00-17:00", 8, "overlap"),
        ("country: de", "country: zz", 9, "zz"),
        ("subdivision: BE", "subdivision: QQ", 9, "QQ"),
        ("2026-12-28", "2026-12-32", 12, "write a date"),
        ("2026-11-28T20:00+01:00", "2026-11-28T20:00", 14, "with its offset"),
        ("until: 2026-11-29T04:00+01:00", "until: 2026-11-28T04:00+01:00", 14, "ends before it begins"),
        ("dataset:postgres://prod:5432:shop.revenue", "shop.revenue", 18, "node id of a dataset"),
        ("version: 1", "version: 2", 1, "version 1"),
        ("service: shop", "servce: shop", 2, "did you mean 'service'"),
    ],
)
def test_a_mistake_has_its_line(before: str, after: str, line: int, reason: str) -> None:
    assert TEXT.count(before) >= 1
    with pytest.raises(RulesFileError) as caught:
        read(TEXT.replace(before, after, 1))
    assert str(caught.value).startswith(f"slos.yaml:{line}: ")
    assert reason.lower() in str(caught.value).lower()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (ORDERS.format(name="revenue is fresh", indicator="{volume: {}}"), "here twice"),
        (ORDERS.format(name="a", indicator="{volume: {}, schema: {}}"), "one indicator"),
        (ORDERS.format(name="a", indicator="{}"), "one indicator"),
        (ORDERS.format(name="a", indicator="{quality: {metric: nullValues, mustBe: 0}}"), "'column' is missing"),
        (ORDERS.format(name="a", indicator="{quality: {metric: nulls, column: a, mustBe: 0}}"), "rowCount"),
        (ORDERS.format(name="a", indicator="{measurement: {metric: sum}}"), "write a bound"),
        (ORDERS.format(name="a", indicator="{measurement: {metric: sum, mustBeBetween: [2, 1]}}"), "the least"),
        (ORDERS.format(name="a", indicator="{volume: {rule: magic}}"), "robust"),
        (ORDERS.format(name="a", indicator="{volume: {history: 2}}"), "from 5 to 100"),
        (ORDERS.format(name="a", indicator="{delivery: {by: 24:00}}"), "time of the day"),
        (
            ORDERS.format(name="a", indicator="{volume: {}}") + ALERTS + "      - {bad: 2, of: 1, notify: page}\n",
            "never",
        ),
        (
            ORDERS.format(name="a", indicator="{volume: {}}") + ALERTS + BURN.format(how="budget: 2%", long="1h"),
            "freshness",
        ),
        (ALERTS + "      - {bad: 1, of: 1, notify: page}\n", "budget of time"),
        (ALERTS + BURN.format(how="budget: 2%, factor: 2", long="1h"), "one of budget"),
        (ALERTS + BURN.format(how="budget: 2%", long="1m"), "short window"),
        (ALERTS + BURN.format(how="budget: 0", long="1h"), "always be open"),
        (ALERTS + "      - {budget: 2%, longWindow: 1h, shortWindow: 5m, notify: shout}\n", "page, ticket"),
    ],
)
def test_what_does_not_fit_together_is_refused(more: str, reason: str) -> None:
    with pytest.raises(RulesFileError) as caught:
        read(TEXT + more)
    assert reason.lower() in str(caught.value).lower()


@pytest.mark.parametrize("text", ["", "version: 1\n", "- a\n", "a: [\n", "\0"])
def test_no_file_is_no_list_of_objectives(text: str) -> None:
    with pytest.raises(RulesFileError):
        read(text)
