"""Objectives of consumers that a contract no longer covers: what each demands, and by which promises it is kept."""

import json
from datetime import UTC, datetime

import pytest

from whence.govern.contracts.changes import ContractChange, Kind
from whence.govern.contracts.consumers import (
    Bounds,
    ConsumerObjective,
    DailyDelivery,
    Demand,
    MaximumAge,
    Objectives,
    find_stricter,
    has_objectives,
)
from whence.govern.contracts.contract import Rule, ServiceLevel
from whence.govern.slos.demands import demand_of, demand_text
from whence.govern.slos.slo_file import read_slos
from whence.model.names import DatasetName

ORDERS, GOLD = DatasetName("pg", "orders"), DatasetName("pg", "gold")
WINTER, SUMMER = (int(datetime(2026, month, 1, tzinfo=UTC).timestamp()) * 1_000_000 for month in (1, 7))


def level(property_: str, value: object, unit: str = "") -> ServiceLevel:
    return ServiceLevel(property=property_, value=value, unit=unit)


def rule(operator: str, value: object, metric: str = "nullValues", unit: str = "percent") -> Rule:
    return Rule(key="a", metric=metric, unit=unit, operators={operator: value})


def stricter(
    before: ServiceLevel | Rule | None,
    after: ServiceLevel | Rule | None,
    demand: Demand,
    dataset: DatasetName = GOLD,
    now: int = WINTER,
) -> list[bool]:
    """Of the one objective, if it is stricter, whether it was kept before."""
    change = ContractChange(kind=Kind.SERVICE_LOOSENED, column="total", datasets=(ORDERS,), promises=(before, after))
    one = ConsumerObjective(service="sales", name="one", dataset=dataset, demand=demand)
    return [found.was_kept for found in find_stricter(change, Objectives(found=(one,)), now)]


SIX_HOURS = MaximumAge(seconds=21_600)
MORNING = DailyDelivery(by=480, zone="Europe/Berlin", pause=86_400)
FEW_NULLS = Bounds(column="Total", rule=rule("mustBeLessThan", 0.5))


@pytest.mark.parametrize(
    ("before", "after", "demand", "expected"),
    [
        (level("latency", 4, "h"), level("latency", 6, "h"), SIX_HOURS, []),
        (level("latency", 4, "h"), level("latency", 361, "min"), SIX_HOURS, [True]),
        (level("latency", 7, "h"), level("latency", 1, "d"), SIX_HOURS, [False]),
        (level("frequency", 1, "h"), None, SIX_HOURS, [True]),
        (level("freshness", 1, "h"), level("freshness", "soon"), SIX_HOURS, [True]),
        (level("retention", 3, "y"), level("retention", 1, "d"), SIX_HOURS, []),
        (level("availability", 99, "%"), None, SIX_HOURS, []),
        (level("frequency", 1, "d"), level("frequency", 1, "w"), MORNING, [True]),
        (level("latency", 4, "h"), level("latency", 1, "d"), MORNING, []),
        (level("timeOfAvailability", "07:00"), level("timeOfAvailability", "08:01"), MORNING, [True]),
        (level("timeOfAvailability", "07:00"), level("timeOfAvailability", "08:00"), MORNING, []),
        (level("timeOfAvailability", "07:00"), level("timeOfAvailability", "noon"), MORNING, [True]),
        (level("timeOfAvailability", "07:00"), level("timeOfAvailability", "09:00"), SIX_HOURS, []),
    ],
)
def test_service_levels(before: ServiceLevel, after: ServiceLevel | None, demand: Demand, expected: list[bool]) -> None:
    assert stricter(before, after, demand) == expected


def test_a_time_of_day_with_an_offset_is_that_of_the_day() -> None:
    """06:30 UTC is 07:30 in Berlin in winter, and 08:30 in summer."""
    early = level("timeOfAvailability", "05:00Z")
    assert stricter(early, level("timeOfAvailability", "06:30Z"), MORNING, now=WINTER) == []
    assert stricter(early, level("timeOfAvailability", "06:30+00:00"), MORNING, now=SUMMER) == [True]
    assert stricter(early, level("timeOfAvailability", "01:00-05:30"), MORNING, now=WINTER) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (rule("mustBeLessThan", 0.1), rule("mustBeLessThan", 0.5), []),
        (rule("mustBeLessThan", 0.1), rule("mustBeLessOrEqualTo", 0.5), [True]),
        (rule("mustBeLessThan", 1), rule("mustBeLessThan", 5), [False]),
        (rule("mustBeLessThan", 0.1), None, [True]),
        (rule("mustBeLessThan", 0.1, "nullCheck"), None, [True]),
        (rule("mustBeLessThan", 10, unit="rows"), None, []),
        (rule("mustBeLessThan", 0.1, "duplicateValues"), None, []),
        (rule("mustNotBe", 3), rule("mustNotBe", 4), [False]),
    ],
)
def test_quality_rules_count_for_their_own_column_alone(before: Rule, after: Rule | None, expected: list[bool]) -> None:
    assert stricter(before, after, FEW_NULLS, ORDERS) == expected
    assert stricter(before, after, FEW_NULLS, GOLD) == []
    assert stricter(before, after, Bounds(column="id", rule=FEW_NULLS.rule), ORDERS) == []


def test_what_no_objective_can_demand_is_not_asked_about() -> None:
    def has(before: ServiceLevel | Rule | None, after: ServiceLevel | Rule | None) -> bool:
        return has_objectives(ContractChange(kind=Kind.SERVICE_LOOSENED, promises=(before, after)))

    assert has(level("latency", 1, "d"), None)
    assert has(None, rule("mustBe", 0))
    assert not has(level("retention", 1, "d"), level("retention", 1, "h"))
    assert not has(Rule(key="sql", operators={"mustBe": 0}), None)


def demand(indicator: object, calendar: str = "") -> tuple[Demand | None, str]:
    hours = {"timeZone": "Europe/Berlin", "open": {"mon-fri": "08:00-18:00", "sat-sun": "closed"}}
    slo = {"name": "one", "dataset": "dataset:pg:gold", "indicator": indicator, "objective": {"target": "90%"}}
    slo |= {"alerting": [], **({"calendar": calendar} if calendar else {})}
    document = {"version": 1, "service": "sales", "calendars": {"office": hours}, "slos": [slo]}
    (objective,) = read_slos(json.dumps(document)).objectives
    return demand_of(objective), demand_text(objective)


def test_what_objectives_demand() -> None:
    assert demand({"freshness": {"limit": "30m"}}) == (MaximumAge(seconds=1_800), "at most 30 min old")
    business = {"freshness": {"limit": "30m", "age": "business"}}
    assert demand(business, "office") == (MaximumAge(seconds=1_800), "at most 30 min old in open hours")
    # 12 open hours: from one opening to the next day's, and two hours more.
    longer = demand({"freshness": {"limit": "12h", "age": "business"}}, "office")[0]
    assert longer == MaximumAge(seconds=26 * 3_600)
    # A week has 50 open hours: 51 are a week and one hour, 45 end in the fifth hour of Friday, or after the weekend.
    for limit, hours in (("51h", 169), ("45h", 4 * 24 + 5), ("50h", 168)):
        found, _ = demand({"freshness": {"limit": limit, "age": "business"}}, "office")
        assert found == MaximumAge(seconds=hours * 3_600)
    assert demand({"delivery": {"by": "08:00"}}, "office") == (
        DailyDelivery(by=480, zone="Europe/Berlin", pause=86_400),
        "delivered by 08:00 Europe/Berlin",
    )
    quality = {"metric": "nullValues", "column": "total", "unit": "percent", "mustBeLessThan": 1}
    found, text = demand({"quality": quality})
    assert isinstance(found, Bounds)
    assert (found.column, found.rule.operators) == ("total", {"mustBeLessThan": 1})
    assert text == "nullValues mustBeLessThan 1 percent"
    assert demand({"schema": {}}) == (None, "")
