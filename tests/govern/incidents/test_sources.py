"""A check that decides a rule of a contract is one finding; a finding of an objective names its column."""

import pytest

from whence.govern.contracts.evaluation.verdicts import Outcome, RuleVerdict
from whence.govern.contracts.evaluation.violations import Violation
from whence.govern.incidents.sources import CheckFailure, check_findings, slo_findings, without_contracted
from whence.govern.slos.records import Transition
from whence.model.names import DatasetName, JobName, RunName
from whence.model.slo_records import TransitionRecord, transition_id

ORDERS, ALIAS = DatasetName("postgres://prod:5432", "shop.orders"), DatasetName("s3://lake", "orders")
IDS = {ORDERS: frozenset({1, 2}), ALIAS: frozenset({1, 2})}
"""Two names of one dataset."""


def failure(since: int, until: int | None, check: str = "unique") -> CheckFailure:
    """A check of the column `id` that failed."""
    return CheckFailure(
        id="good/", dataset=ORDERS, check=check, column="ID", run=RunName("r1", JobName("dag", "test")),
        since=since, until=until,
    )  # fmt: skip


def violation(since: int, until: int | None) -> Violation:
    """A violated rule of the contract, under another name of the dataset."""
    verdict = RuleVerdict(rule="unique", column="id", outcome=Outcome.VIOLATED)
    return Violation(dataset=ALIAS, since=since, until=until, verdict=verdict)


@pytest.mark.parametrize(
    ("violations", "left"),
    [
        ([], [(5, 20)]),
        ([violation(5, 20)], []),
        ([violation(5, None)], []),
        ([violation(0, 5), violation(20, None)], [(5, 20)]),
        ([violation(8, None)], [(5, 8)]),
        ([violation(3, 9)], [(9, 20)]),
        ([violation(7, 9), violation(12, 15)], [(5, 7), (9, 12), (15, 20)]),
    ],
)
def test_a_check_is_a_finding_where_no_rule_of_the_contract_says_the_same(
    violations: list[Violation], left: list[tuple[int, int | None]]
) -> None:
    found = list(check_findings(without_contracted([failure(5, 20)], violations[::-1], IDS), {}))
    assert [(one.since, one.until) for one in found] == left
    assert len({one.id for one in found}) == len(found)
    (alone,) = check_findings([failure(5, None)], {})
    assert not found or (found[0].id == alone.id) == (found[0].since == 5)


def test_another_check_stays() -> None:
    assert list(without_contracted([failure(5, None, "sum")], [violation(5, None)], IDS)) == [failure(5, None, "sum")]


def test_a_finding_of_an_objective_has_the_column_of_the_declaration_that_it_violated() -> None:
    record = TransitionRecord(
        slo="ab", service="shop", name="few nulls", dataset=str(ORDERS), before="holds", after="violated", version="v1"
    )
    one = Transition(id=transition_id(record), time=1, record=record)
    columns = {("ab", "v1"): "id", ("ab", "v2"): "customer"}
    assert [each.column for each in slo_findings([one], columns)] == ["id"]
    assert [each.column for each in slo_findings([one])] == [""]
