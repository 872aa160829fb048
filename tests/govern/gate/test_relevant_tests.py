"""Which tests a head needs, told apart from those that it cannot break."""

from dataclasses import replace

import pytest

from govern.gate.cases import ORDERS, REVENUE, affected, assessment, change
from whence.govern.gate.impact import UNKNOWN_DATASET, Assessment, Facts, Impact
from whence.govern.gate.relevant_tests import Because, KnownTest, affected_datasets, select_tests
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName, FieldName, Node

TOTAL, DAY = FieldName(REVENUE, "total"), FieldName(REVENUE, "day")
AMOUNT, ID = FieldName(ORDERS, "amount"), FieldName(ORDERS, "id")
OTHER = DatasetName("postgres://prod:5432", "shop.other")
TIERS = frozenset({1})


def check(name: str, *reads: Node, is_changed: bool = False) -> KnownTest:
    wholes = dict.fromkeys(one.dataset if isinstance(one, FieldName) else one for one in reads)
    tables = tuple(one for one in wholes if isinstance(one, DatasetName))
    assert len(tables) == len(wholes)
    return KnownTest(
        name=name,
        assertion="not_null",
        tables=tables,
        reads=reads,
        is_changed=is_changed,
    )


TESTS = (
    check("id", ID),
    check("amount", AMOUNT),
    check("total", TOTAL),
    check("day", DAY),
    check("any of revenue", REVENUE),
    check("both", DAY, AMOUNT),
    check("other", FieldName(OTHER, "x")),
)


def names(of: Assessment, tiers: frozenset[int] = TIERS) -> dict[str, Because]:
    return {one.test.name: one.because for one in select_tests(of, TESTS, tiers).selected}


def of(made: ColumnChange, *nodes: Node, tier: int | None = None, incomplete: str = "") -> Assessment:
    impact = Impact(affected=affected(*nodes), incomplete=incomplete)
    return replace(assessment((made, impact)), facts={REVENUE: Facts(tier=tier)})


def test_only_tests_of_changed_and_affected_columns_are_needed() -> None:
    assert names(of(change(column="amount"), TOTAL)) == {
        "amount": Because.CHANGED,
        "total": Because.AFFECTED,
        "any of revenue": Because.AFFECTED,
        "both": Because.CHANGED,
    }


def test_a_critical_dataset_that_is_affected_keeps_all_its_tests() -> None:
    found = names(of(change(column="amount"), TOTAL, tier=1))
    assert found["day"] is Because.TIER
    assert "other" not in found
    assert "day" not in names(of(change(column="amount"), tier=1))


def test_other_rows_concern_every_test_of_the_dataset() -> None:
    assert names(of(change(ChangeKind.ROWS, None))).keys() == {"id", "amount", "both"}


def test_a_renamed_column_concerns_tests_of_both_names_in_any_case() -> None:
    assert names(of(change(ChangeKind.RENAMED, "AMOUNT", before="ID", after="AMOUNT"))).keys() == {
        "id",
        "amount",
        "both",
    }


@pytest.mark.parametrize("kind", [one for one in ChangeKind if one.is_harmless])
def test_harmless_changes_need_no_test(kind: ChangeKind) -> None:
    assert names(of(change(kind, "amount"), TOTAL)) == {}


def test_a_new_test_is_needed_though_nothing_changes() -> None:
    tests = (*TESTS, check("new", FieldName(OTHER, "y"), is_changed=True))
    found = select_tests(Assessment(changes=()), tests, TIERS)
    assert [(one.test.name, one.because) for one in found.selected] == [("new", Because.NEW)]
    assert found.saved == pytest.approx(7 / 8)


def test_a_search_that_was_cut_needs_every_test_and_an_unknown_dataset_does_not() -> None:
    found = select_tests(of(change(column="amount"), incomplete="a budget stopped it"), TESTS, TIERS)
    assert (len(found.selected), found.saved, found.incomplete) == (7, 0, "a budget stopped it")
    assert found.selected[0].because is Because.INCOMPLETE
    assert "other" not in names(of(change(column="amount"), incomplete=UNKNOWN_DATASET))


def test_a_dataset_is_known_by_the_name_that_production_gives_it() -> None:
    alias = DatasetName("s3://lake", "gold/revenue")
    aliased = replace(of(change(column="amount"), FieldName(alias, "total")), names={REVENUE: alias})
    assert "total" in names(aliased)
    assert affected_datasets(aliased) == (ORDERS, alias)
