"""Quality rules and service levels: what measurements, checks and writes decide, and what they do not."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.govern.contracts.evaluation.quality import CheckResult, Report, judge_quality
from whence.govern.contracts.evaluation.service_levels import LastWrite, judge_levels
from whence.govern.contracts.evaluation.verdicts import Outcome, Range, RuleVerdict, fulfils
from whence.query.lookup.contracts import ContractVersion, PromisedColumn, PromisedLevel, PromisedRule

HELD = ContractVersion(id="a", version="1.0.0", applied_at=1)
HOUR = 3_600_000_000


def rule(metric: str, column: str = "c", unit: str = "", arguments: Any = None, **operators: Any) -> PromisedRule:
    return PromisedRule(
        name=metric, column=column, metric=metric, unit=unit, arguments=arguments or {}, operators=operators
    )


def report(time: int = 5, **numbers: float) -> Report:
    """`rows`: of the dataset; the others of the column `c`."""
    rows = {("", "rowCount"): numbers.pop("rows")} if "rows" in numbers else {}
    return Report(time=time, run=None, numbers={**rows, **{("c", name): value for name, value in numbers.items()}})


def judge(one: PromisedRule, *reports: Report, checks: tuple[CheckResult, ...] = ()) -> RuleVerdict:
    (found,) = judge_quality(replace(HELD, rules=(one,)), reports, checks)
    return found


@pytest.mark.parametrize(
    ("one", "numbers", "outcome", "observed"),
    [
        (rule("rowCount", "", mustBeGreaterThan=100), {"rows": 101}, "holds", "101"),
        (rule("rowCount", "", mustBeGreaterThan=100), {"rows": 100}, "violated", "100"),
        (rule("rowCount", "", mustBeBetween=[1, 100]), {"rows": 100}, "holds", "100"),
        (rule("rowCount", "", mustNotBeBetween=[1, 100]), {"rows": 0}, "holds", "0"),
        (rule("nullValues", mustBe=0), {"nullCount": 0}, "holds", "0"),
        (rule("nullValues", mustBe=0), {"nullCount": 3}, "violated", "3"),
        (rule("nullCheck", mustBe=0), {"nullCount": 3}, "violated", "3"),
        (rule("nullValues", unit="percent", mustBeLessThan=5), {"nullCount": 3, "rows": 100}, "holds", "3 %"),
        (rule("nullValues", unit="percent", mustBeLessThan=5), {"nullCount": 5, "rows": 100}, "violated", "5 %"),
        (rule("nullValues", unit="percent", mustBeLessThan=5), {"nullCount": 0, "rows": 0}, "not evaluated", ""),
        (rule("nullValues", unit="percent", mustBeLessThan=5), {"nullCount": 5}, "not evaluated", ""),
        (rule("nullValues", unit="furlongs", mustBe=0), {"nullCount": 5}, "not evaluated", ""),
        (rule("nullValues"), {"nullCount": 5}, "not evaluated", "5"),
        (rule("nullValues", mustBe="zero"), {"nullCount": 5}, "not evaluated", "5"),
        (rule("missingValues", mustBe=0), {"nullCount": 1}, "violated", "1"),
        (rule("missingValues", arguments={"missingValues": [None]}, mustBe=0), {"nullCount": 0}, "holds", "0"),
        (
            rule("missingValues", arguments={"missingValues": [None, ""]}, mustBe=0),
            {"nullCount": 2, "rows": 9},
            "violated",
            "2 to 9",
        ),
        (
            rule("missingValues", arguments={"missingValues": [None, ""]}, mustBe=0),
            {"nullCount": 0},
            "not evaluated",
            "at least 0",
        ),
        (rule("missingValues", arguments={"missingValues": [""]}, mustBe=0), {"nullCount": 1}, "not evaluated", ""),
        (rule("duplicateValues", mustBe=0), {"rows": 9, "nullCount": 0, "distinctCount": 9}, "holds", "0"),
        (rule("duplicateCount", mustBe=0), {"rows": 9, "nullCount": 0, "distinctCount": 8}, "violated", "1 to 2"),
        (
            rule("duplicateValues", mustBeLessThan=2),
            {"rows": 9, "nullCount": 0, "distinctCount": 8},
            "not evaluated",
            None,
        ),
        (rule("duplicateValues", mustBe=0), {"rows": 9, "distinctCount": 9}, "not evaluated", ""),
        (
            rule("duplicateValues", "", arguments={"properties": ["c"]}, mustBe=0),
            {"rows": 9, "nullCount": 0, "distinctCount": 9},
            "holds",
            "0",
        ),
        (rule("duplicateValues", "", arguments={"properties": ["c", "d"]}, mustBe=0), {"rows": 9}, "not evaluated", ""),
        (rule("invalidValues", arguments={"validValues": ["a"]}, mustBe=0), {"rows": 9}, "not evaluated", ""),
        (rule("", mustBe=0), {"rows": 9}, "not evaluated", ""),
    ],
)
def test_measurements_decide_as_far_as_they_go(
    one: PromisedRule, numbers: dict[str, Any], outcome: str, observed: str | None
) -> None:
    found = judge(one, report(**numbers))
    assert found.outcome == outcome
    assert observed is None or found.observed == observed
    assert bool(found.reason) == (found.outcome is Outcome.NOT_EVALUATED)


def test_the_latest_report_that_measures_it_decides() -> None:
    one = rule("nullValues", mustBe=0)
    found = judge(one, report(9, rows=5), report(8, nullCount=1), report(7, nullCount=0))
    assert (found.outcome, found.time) == (Outcome.VIOLATED, 8)
    assert judge(one).reason == "no run has measured it (dataQualityMetrics)"


def test_a_check_with_the_name_of_the_rule_decides() -> None:
    one = replace(rule("invalidValues", mustBe=0), name="valid-status")
    failed = CheckResult(name="valid-status", column="C", held=False, time=9, run=None, found="found 4")
    elsewhere = replace(failed, column="d")
    assert judge(one, checks=(elsewhere,)).outcome is Outcome.NOT_EVALUATED
    assert (judge(one, checks=(elsewhere, failed)).observed, judge(one, checks=(failed,)).outcome) == (
        "found 4",
        Outcome.VIOLATED,
    )
    held = replace(failed, held=True, found="")
    assert judge(one, checks=(held, failed)).outcome is Outcome.HOLDS


def test_required_and_unique_columns_are_rules() -> None:
    column = PromisedColumn(name="C", required=True, unique=True)
    found = judge_quality(replace(HELD, columns=(column,)), [report(rows=3, nullCount=0, distinctCount=2)], ())
    assert [(one.rule, one.column, one.outcome) for one in found] == [
        ("required", "C", "holds"),
        ("unique", "C", "violated"),
    ]


VALUES = st.lists(st.none() | st.sampled_from("ab "), max_size=6)
BOUND = st.integers(0, 7)
COMPARISONS = (
    "mustBe",
    "mustNotBe",
    "mustBeGreaterThan",
    "mustBeGreaterOrEqualTo",
    "mustBeLessThan",
    "mustBeLessOrEqualTo",
)
OPERATORS = st.one_of([st.fixed_dictionaries({name: BOUND}) for name in COMPARISONS]) | st.fixed_dictionaries(
    {"mustBeBetween": st.lists(BOUND, min_size=2, max_size=2).map(sorted)}
)
COMPARE: Mapping[str, Any] = {
    "mustBe": lambda value, bound: value == bound,
    "mustNotBe": lambda value, bound: value != bound,
    "mustBeGreaterThan": lambda value, bound: value > bound,
    "mustBeGreaterOrEqualTo": lambda value, bound: value >= bound,
    "mustBeLessThan": lambda value, bound: value < bound,
    "mustBeLessOrEqualTo": lambda value, bound: value <= bound,
    "mustBeBetween": lambda value, bound: bound[0] <= value <= bound[1],
}


def truths(metric: str, values: list[str | None], missing: list[str | None]) -> set[int]:
    """What the rule counts in the data, by every reading of the standard."""
    if metric == "rowCount":
        return {len(values)}
    if metric == "nullValues":
        return {values.count(None)}
    if metric == "missingValues":
        return {sum(one in missing for one in values)}
    found = set()
    for some in (values, [one for one in values if one is not None]):
        counts = Counter(some)
        found |= {len(some) - len(counts), sum(count for count in counts.values() if count > 1)}
    return found


@given(
    VALUES,
    st.sampled_from(["rowCount", "nullValues", "missingValues", "duplicateValues"]),
    OPERATORS,
    st.booleans(),
    st.lists(st.none() | st.sampled_from("ab "), min_size=1, max_size=3, unique=True),
)
def test_a_verdict_is_true_of_the_data(
    values: list[str | None], metric: str, operators: dict[str, Any], counts_null: bool, missing: list[str | None]
) -> None:
    """An independent count of the data agrees with every verdict, whether an engine counts null as a value or not."""
    distinct = len(set(values)) if counts_null else len({one for one in values if one is not None})
    measured = report(rows=len(values), nullCount=values.count(None), distinctCount=distinct)
    one = rule(metric, arguments={"missingValues": missing} if metric == "missingValues" else None, **operators)
    outcome = judge(one, measured).outcome
    ((operator, bound),) = operators.items()
    answers = {COMPARE[operator](truth, bound) for truth in truths(metric, values, missing)}
    if outcome is not Outcome.NOT_EVALUATED:
        assert answers == {outcome is Outcome.HOLDS}
    if metric in ("rowCount", "nullValues"):
        assert outcome is not Outcome.NOT_EVALUATED


@given(st.integers(0, 5), st.integers(0, 5), OPERATORS)
def test_a_range_is_all_its_values(low: int, more: int, operators: dict[str, Any]) -> None:
    ((operator, bound),) = operators.items()
    answers = {COMPARE[operator](one / 2, bound) for one in range(2 * low, 2 * (low + more) + 1)}
    found = fulfils(operators, Range(low, low + more))
    assert found is None or answers == {found}
    assert found is not None or len(answers) == 2 or operator in ("mustBe", "mustNotBe")


def level(name: str, value: Any, unit: str = "h", element: str = "") -> tuple[str, str, str]:
    held = replace(HELD, levels=(PromisedLevel(property=name, value=value, unit=unit, element=element),))
    found = [*judge_levels(held, LastWrite(10 * HOUR, None), 14 * HOUR), *judge_levels(held, None, 14 * HOUR)]
    return (found[0].outcome.value, found[0].reason, found[1].outcome.value) if found else ("", "", "")


@pytest.mark.parametrize(
    ("promised", "outcome"),
    [
        (("latency", 4), "holds"),
        (("latency", 3.9), "violated"),
        (("latency", 240, "minutes"), "holds"),
        (("freshness", 1, "d", "orders"), "holds"),
        (("latency", 4, "h", "orders.made_on"), "not evaluated"),
        (("latency", 3, "h", "orders.made_on"), "violated"),
        (("frequency", 4, "h", "orders.made_on"), "holds"),
        (("frequency", 1), "violated"),
        (("latency", 4, ""), "not evaluated"),
        (("latency", "4"), "not evaluated"),
        (("latency", True), "not evaluated"),
        (("retention", 3, "y"), "not evaluated"),
        (("timeOfAvailability", "09:00-08:00", ""), "not evaluated"),
        (("endOfLife", "2030-01-01", ""), ""),
    ],
)
def test_service_levels(promised: tuple[Any, ...], outcome: str) -> None:
    found, reason, without_a_write = level(*promised)
    assert found == outcome
    assert without_a_write in ("not evaluated", "")
    assert bool(reason) == (found == "not evaluated")
