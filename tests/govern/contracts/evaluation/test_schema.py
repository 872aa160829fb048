"""Violations of a contract by the columns that runs report: holds, violated, or not evaluated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.govern.contracts.evaluation.schema import Violation, evaluate_contract, type_family
from whence.query.lookup.contracts import ContractVersion, PromisedColumn

SEEN = {
    "id": "bigint",
    "Total": "decimal(18,2)",
    "made_on": "timestamp",
    "to": "struct<city:string>",
    "to.city": "string",
    "note": "object",
}


def held(*columns: tuple[str, str]) -> ContractVersion:
    promised = tuple(PromisedColumn(name=name, logical_type=type_) for name, type_ in columns)
    return ContractVersion(id="a", version="1.0.0", applied_at=1, columns=promised)


@pytest.mark.parametrize(
    ("columns", "violations"),
    [
        ([("id", "integer"), ("total", "number"), ("made_on", "timestamp"), ("to", "object")], []),
        ([("to.city", "string"), ("id", "")], []),
        ([("id", "number"), ("made_on", "date")], []),
        ([("gone", "string")], [("missing-column", "gone", "string", "")]),
        ([("gone", "")], [("missing-column", "gone", "any type", "")]),
        ([("gone", "object"), ("gone.city", "string")], [("missing-column", "gone", "object", "")]),
        ([("to.zip", "string")], [("missing-column", "to.zip", "string", "")]),
        ([("id.part", "string")], []),
        ([("id", "string")], [("type", "id", "string", "bigint")]),
        ([("note", "string"), ("NOTE", "object")], []),  # pandas calls texts so, Snowflake a record
        ([("total", "integer")], [("type", "total", "integer", "decimal(18,2)")]),
    ],
)
def test_what_is_reported_is_compared(
    columns: list[tuple[str, str]], violations: list[tuple[str, str, str, str]]
) -> None:
    found = evaluate_contract(held(*columns), SEEN)
    assert not found.not_evaluated
    assert [(one.rule, one.column, one.expected, one.observed) for one in found.violations] == violations


def test_what_is_not_known_is_not_evaluated() -> None:
    assert evaluate_contract(held(("id", "integer")), {}).not_evaluated == (
        "no event has reported the columns of the dataset"
    )
    assert evaluate_contract(held(), SEEN).not_evaluated == "the contract states no columns"


@pytest.mark.parametrize(
    ("type_", "family"),
    [
        ("BIGINT", "integer"),
        ("object", ""),
        ("str", "string"),
        ("int unsigned", "integer"),
        ("NUMBER(38,0)", "number"),
        ("double precision", "number"),
        ("character varying(20)", "string"),
        ("timestamp without time zone", "timestamp"),
        ("TIMESTAMP_NTZ(9)", "timestamp"),
        ("array<int>", "array"),
        ("text[]", "array"),
        ("map<string,int>", "map"),
        ("geography", ""),
        ("", ""),
    ],
)
def test_types_of_engines_have_a_family(type_: str, family: str) -> None:
    assert type_family(type_) == family


def test_a_decimal_without_decimals_is_a_whole_number() -> None:
    assert evaluate_contract(held(("n", "integer")), {"n": "NUMBER(38, 0)"}).violations == ()
    assert evaluate_contract(held(("n", "integer")), {"n": "decimal(10)"}).violations == ()
    assert evaluate_contract(held(("n", "integer")), {"n": "decimal(10,2)"}).violations == (
        Violation(rule="type", column="n", expected="integer", observed="decimal(10,2)"),
    )


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["integer", "string", "boolean"]), min_size=1),
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["integer", "string", "boolean"]), min_size=1),
)
def test_an_oracle_agrees(promised: dict[str, str], reported: dict[str, str]) -> None:
    found = evaluate_contract(held(*promised.items()), reported)
    wrong = {name for name, type_ in promised.items() if reported.get(name) != type_}
    assert {one.column for one in found.violations} == wrong
    assert {one.column for one in found.violations if one.rule == "missing-column"} == promised.keys() - reported.keys()


@given(st.text(max_size=30))
def test_any_type_has_an_answer(text: str) -> None:
    assert isinstance(type_family(text), str)
