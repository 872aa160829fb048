"""Quality rules of a contract, judged by what runs measured and checked. A pure function: nothing is guessed.

A measurement decides a rule only as far as it goes: it bounds the number that the rule is about, and the rule holds, or
is violated, if all numbers within the bounds agree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.govern.contracts.contract import current_metric
from whence.govern.contracts.evaluation.verdicts import Outcome, Range, RuleVerdict, fulfils
from whence.model.names import RunName
from whence.query.lookup.contracts import ContractVersion, PromisedRule

_COUNTED = ("nullValues", "missingValues", "duplicateValues", "rowCount")
_ROWS = ("", "rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run measured of a dataset: column in lower case (empty: the dataset) and metric → number."""

    time: int
    run: RunName | None
    numbers: Mapping[tuple[str, str], int | float] = field(default_factory=dict)
    dataset_id: int = 0

    def number(self, column: str, metric: str) -> int | float | None:
        """A measured number; None if it was not measured."""
        return self.numbers.get((column.casefold(), metric))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a run reported of a check: its name, its column (empty: none), and whether it held."""

    name: str
    column: str
    held: bool
    time: int
    run: RunName | None
    found: str = ""


def judge_quality(
    held: ContractVersion, reports: Sequence[Report], checks: Sequence[CheckResult]
) -> tuple[RuleVerdict, ...]:
    """Judge the rules of a version, with those that `required` and `unique` are. Reports and checks: latest first."""
    return tuple(_judge(one, reports, checks) for one in (*_column_rules(held), *held.rules))


def judge_each(
    held: ContractVersion, reports: Sequence[Report], checks: Sequence[CheckResult]
) -> Iterator[tuple[PromisedRule, Sequence[RuleVerdict]]]:
    """Of each rule, what each check and report that decides it says, the oldest first: the last one until a time is
    what `judge_quality` says then. Reports and checks: latest first. Empty for a rule that nothing decides.
    """
    for rule in (*_column_rules(held), *held.rules):
        checked = [_checked(rule, one) for one in checks if _decides(one, rule)]
        first = min((one.time for one in checks if _decides(one, rule)), default=None)
        earlier = (one for one in reports if first is None or one.time < first)
        measured = [_judge_measured(rule, [one]) for one in earlier if _may_measure(rule, one)]
        yield rule, [*(one for one in reversed(measured) if one.time is not None), *reversed(checked)]


def _may_measure(rule: PromisedRule, report: Report) -> bool:
    """Whether a report has any number of the column, or of the dataset: a cheap look before a judgement."""
    metric = current_metric(rule.metric)
    column = _column_of(rule, metric) if metric in _COUNTED[:3] else ""
    wanted = "nullCount" if column else "rowCount"
    return metric in _COUNTED and report.number(column, wanted) is not None


def _column_rules(held: ContractVersion) -> Iterator[PromisedRule]:
    for one in held.columns:
        if one.required:
            yield PromisedRule(name="required", column=one.name, metric="nullValues", operators={"mustBe": 0})
        if one.unique:
            yield PromisedRule(name="unique", column=one.name, metric="duplicateValues", operators={"mustBe": 0})


def _judge(rule: PromisedRule, reports: Sequence[Report], checks: Sequence[CheckResult]) -> RuleVerdict:
    """By the check that has the rule's name, else by the latest report that measures what the rule is about."""
    check = next((one for one in checks if _decides(one, rule)), None)
    return _judge_measured(rule, reports) if check is None else _checked(rule, check)


def _checked(rule: PromisedRule, check: CheckResult) -> RuleVerdict:
    return RuleVerdict(
        rule=rule.name,
        column=rule.column,
        outcome=Outcome.HOLDS if check.held else Outcome.VIOLATED,
        expected=expected_text(rule),
        observed=check.found or f"the check {check.name} {'held' if check.held else 'failed'}",
        time=check.time,
        run=check.run,
    )


def _decides(check: CheckResult, rule: PromisedRule) -> bool:
    return check.name == rule.name and check.column.casefold() == rule.column.casefold()


def _judge_measured(rule: PromisedRule, reports: Sequence[Report]) -> RuleVerdict:
    metric = current_metric(rule.metric)
    if metric not in _COUNTED:
        what = f"no run measures {metric}" if metric else "Whence does not run it"
        return _not_evaluated(rule, f"{what}, and no run reports a check {rule.name!r}")
    if rule.unit not in (*_ROWS, "percent"):
        return _not_evaluated(rule, f"the unit {rule.unit!r} is not known")
    column = _column_of(rule, metric)
    if metric != "rowCount" and not column:
        return _not_evaluated(rule, "no run measures several columns together")
    for report in reports:
        found = _measured(metric, rule, column, report)
        if found is not None:
            return _decide(rule, found, report)
    return _not_evaluated(rule, "no run has measured it (dataQualityMetrics)")


def _column_of(rule: PromisedRule, metric: str) -> str:
    """The column that a rule is about; empty if there are several, or none."""
    listed = rule.arguments.get("properties")
    several = listed if isinstance(listed, list) and metric == "duplicateValues" else [rule.column]
    return str(several[0]) if len(several) == 1 else ""


def _measured(metric: str, rule: PromisedRule, column: str, report: Report) -> Range | None:
    """The bounds that a report sets to the number of rows that a rule counts, or to their share."""
    rows = report.number("", "rowCount")
    found = _counted(metric, rule.arguments, column, report, rows)
    if found is None or rule.unit != "percent":
        return found
    return None if not rows else Range(100 * found.low / rows, min(100.0, 100 * found.high / rows))


def _counted(
    metric: str, arguments: Mapping[str, Any], column: str, report: Report, rows: int | float | None
) -> Range | None:
    nulls = report.number(column, "nullCount")
    match metric:
        case "rowCount":
            return None if rows is None else Range(rows, rows)
        case "nullValues":
            return None if nulls is None else Range(nulls, nulls)
        case "missingValues" if nulls is not None and None in (listed := _listed(arguments)):
            return Range(nulls, nulls if len(listed) == 1 else rows if rows is not None else float("inf"))
        case "duplicateValues":
            return _duplicates(rows, nulls, report.number(column, "distinctCount"))
    return None


def _listed(arguments: Mapping[str, Any]) -> list[Any]:
    """The values that count as missing; null alone, if none are listed."""
    listed = arguments.get("missingValues")
    return listed if isinstance(listed, list) and listed else [None]


def _duplicates(rows: int | float | None, nulls: int | float | None, distinct: int | float | None) -> Range | None:
    """The rows whose value another row has. Engines differ: null may be a distinct value, and a duplicate."""
    if rows is None or nulls is None or distinct is None:
        return None
    values = rows - nulls
    fewest, most = max(0, values - distinct), max(0, values - distinct + (1 if nulls else 0))
    return Range(fewest, 2 * most + (nulls if nulls > 1 else 0))


def _decide(rule: PromisedRule, found: Range, report: Report) -> RuleVerdict:
    answer = fulfils(rule.operators, found)
    outcome = {True: Outcome.HOLDS, False: Outcome.VIOLATED, None: Outcome.NOT_EVALUATED}[answer]
    unit = " %" if rule.unit == "percent" else ""
    reason = "" if answer is not None else "what was measured does not decide it" if rule.operators else "no threshold"
    return RuleVerdict(
        rule=rule.name,
        column=rule.column,
        outcome=outcome,
        expected=expected_text(rule),
        observed=f"{found.describe(rule.operators)}{unit}",
        reason=reason,
        time=report.time,
        run=report.run,
    )


def _not_evaluated(rule: PromisedRule, reason: str) -> RuleVerdict:
    return RuleVerdict(
        rule=rule.name,
        column=rule.column,
        outcome=Outcome.NOT_EVALUATED,
        expected=expected_text(rule),
        reason=reason,
    )


def expected_text(rule: PromisedRule) -> str:
    """What a rule demands, as people read it."""
    unit = " %" if rule.unit == "percent" else ""
    bounds = ", ".join(f"{key} {value}{unit}" for key, value in sorted(rule.operators.items()))
    return " ".join(part for part in (rule.metric, bounds) if part)
