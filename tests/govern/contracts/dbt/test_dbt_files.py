"""Contracts in the YAML files of a dbt project: which they are, what they promise, and every mistake with its line."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from whence.govern.contracts.check import Checked
from whence.govern.contracts.compare import compare_contracts
from whence.govern.contracts.consumers import Objectives
from whence.govern.contracts.contract import Contract
from whence.govern.contracts.dbt.keys import COLUMN, CONSTRAINT, CONTRACT, MODEL
from whence.govern.contracts.files import check_dbt, check_file, read_file
from whence.govern.contracts.review import UNREAD, Readers, review_contract

SHOP = """\
version: 2
groups:
  - {name: crm, owner: {email: crm@shop.example}}
models:
  - name: orders
    description: Orders
    config:
      materialized: table
      contract: {enforced: true}
      meta: {owner: [ada, bob]}
    constraints:
      - {type: primary_key, columns: [ID]}
      - {type: check, columns: [total, paid], expression: "paid <= total"}
      - {type: unique, columns: [total, paid]}
    columns:
      - name: id
        data_type: bigint
        constraints: [{type: unique}]
      - {name: total, data_type: "numeric(18,2)"}
      - {name: paid, data_type: "numeric(18,2)", constraints: [{type: check, name: sign, expression: "paid > 0"}]}
  - name: customers
    group: crm
    meta: {owner: eve}
    config: {contract: {enforced: true}, alias: people}
    columns:
      - {name: id, data_type: int}
      - {name: mail, data_type: text}
      - {name: born, data_type: date}
    versions:
      - v: 1
        deprecation_date: 2027-01-01
      - v: 2
        columns:
          - {include: all, exclude: [mail]}
          - {name: email, data_type: text}
      - v: 3
        columns: [{include: [id]}]
      - v: next
        config: {contract: {enforced: false}}
  - name: free
    columns: [{name: a, nonsense: 1}]
  - name: staged
    config: {contract: {enforced: false}}
"""


def contracts(text: str, package: str = "") -> dict[str, Contract]:
    found, checked = read_file(text, "models/a.yml", package=package)
    assert checked.problems == ()
    return {one.id: one for one in found}


def problems(text: str) -> list[str]:
    checked = check_dbt(text, "a.yml")
    return [str(one) for one in checked.problems] if checked else []


def test_each_enforced_model_and_version_is_a_contract() -> None:
    found = contracts(SHOP)
    assert {id_: [column.name for column in one.tables[0].columns] for id_, one in found.items()} == {
        "orders": ["id", "total", "paid"],
        "customers.v1": ["id", "mail", "born"],
        "customers.v2": ["id", "born", "email"],
        "customers.v3": ["id"],
    }
    assert found["orders"].owners == ("ada", "bob")
    assert found["customers.v1"].owners == ("eve", "crm@shop.example")
    assert (found["customers.v1"].status, found["customers.v1"].ends) == ("deprecated", "2027-01-01")
    assert set(contracts(SHOP, "shop")) == {f"model.shop.{one}" for one in found}
    assert check_file(SHOP, "a.yml").count == 4


def test_constraints_are_promises() -> None:
    key, total, paid = contracts(SHOP)["orders"].tables[0].columns
    assert (key.primary_key, key.required, key.unique, key.physical_type, key.line) == (True, True, True, "bigint", 16)
    assert (total.required, total.unique, total.rules) == (False, False, ())
    assert [(one.key, dict(one.operators)) for one in paid.rules] == [("sign", {"check": "paid > 0"})]
    assert [dict(one.operators) for one in contracts(SHOP)["orders"].tables[0].rules] == [
        {"check": "total, paid paid <= total"},
        {"unique": "total, paid"},
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("materialized", "contrct", ["9: no key 'contrct' belongs here; did you mean 'contract'?"]),
        ("enforced: true}\n", "enforcd: true}\n", ["10: no key 'enforcd' belongs here; did you mean 'enforced'?"]),
        ("{enforced: true}\n", "yes\n", ["10: write `enforced: true` or `enforced: false` below this key"]),
        ("{enforced: true}\n", "{enforced: 'yes'}\n", ["10: write true or false here, not 'yes'"]),
        ("bigint", "", ["16: 'data_type' is missing: the contract of orders is enforced"]),
        ("name: paid,", "name: ID,", ["20: the column 'ID' is here twice"]),
        ("type: check, columns", "type: chek, columns", None),
        ("type: check, columns", "tpye: check, columns", None),
        (', expression: "paid <= total"', "", ["13: 'expression' is missing: what does the check demand?"]),
        ("data_type: bigint", "datatype: bigint", None),
        ("name: total", "nmae: total", None),
        ("    description: Orders", "    contract: {enforced: true}", None),
    ],
)
def test_mistakes_are_refused_with_their_line(old: str, new: str, expected: list[str] | None) -> None:
    text = SHOP.replace(old, new, 1)
    line = text[: text.index(new)].count("\n") + 1 if new else 17
    found = problems(text)
    if expected is None:
        assert any(one.startswith(f"a.yml:{line}: ") for one in found), found
    else:
        assert [one.split(": ", 1)[1] for one in found] == [one.split(": ", 1)[1] for one in expected]
    assert read_file(text, "a.yml")[0] == ()


def test_what_jinja_decides_is_not_guessed() -> None:
    (found,) = problems(SHOP.replace("enforced: true", "enforced: \"{{ var('x') }}\"", 1))
    assert found.startswith("a.yml:9: write true or false here")
    assert found.endswith("Whence reads it without running dbt")


@pytest.mark.parametrize("known", [MODEL, COLUMN, CONSTRAINT, CONTRACT])
def test_every_misspelt_key_of_a_contract_is_refused(known: frozenset[str]) -> None:
    for key in sorted(known):
        wrong = f"{key}Q"
        model: dict[str, Any] = {"name": "a", "config": {"contract": {"enforced": True}}}
        column: dict[str, Any] = {"name": "x", "data_type": "int", "constraints": [{"type": "not_null"}]}
        model["columns"] = [column]
        owner = {
            MODEL: model,
            COLUMN: column,
            CONSTRAINT: column["constraints"][0],
            CONTRACT: model["config"]["contract"],
        }[known]
        owner[wrong] = "v"
        text = yaml.safe_dump({"models": [model]})
        line = next(number for number, one in enumerate(text.splitlines(), 1) if wrong in one)
        assert any(one.startswith(f"a.yml:{line}: no key '{wrong}'") for one in problems(text)), (known, key)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("models: [{name: a}]\n", None),
        ("sources: [{name: a}]\n", None),
        ("apiVersion: v3.1.0\nmodels: []\n", None),
        ("models: [\ncontract: 1", 1),
        ("models: [\n", None),
        ("models: {a: 1}\n", None),
        ("models: [1, {name: 2}, {name: [x]}]\n", None),
        ("'models': [{name: a, config: {contract: {enforced: true}}, columns: [{name: i, data_type: int}]}]\n", 1),
    ],
)
def test_which_files_have_contracts_of_dbt(text: str, count: int | None) -> None:
    found = check_dbt(text, "a.yml")
    assert (found.count if found else None) == count


def reviewed(old: str, new: str, readers: Readers = UNREAD) -> tuple[str, list[str], tuple[str, ...]]:
    before, after = contracts(SHOP)["orders"], contracts(SHOP.replace(old, new, 1))["orders"]
    review = review_contract(before, after, lambda _: readers, lambda _: Objectives(), note=None, now=0)
    return review.verdict.text, [f"{one.class_}: {one.change.kind}" for one in review.changes], review.missing


def test_classes_of_changes() -> None:
    nobody = Readers()
    assert reviewed("bigint", "text")[:2] == ("blocked", ["breaking: type"])
    assert "needs a new version of the model" in reviewed("bigint", "text")[2][0]
    assert reviewed("bigint", "text", nobody) == ("note", ["unused: type"], ())
    removed = '      - {name: total, data_type: "numeric(18,2)"}\n'
    assert reviewed(removed, "")[:2] == ("blocked", ["breaking: removed"])
    assert reviewed(removed, f"{removed}      - {{name: more, data_type: int}}\n") == (
        "note",
        ["compatible: added"],
        (),
    )
    assert reviewed("{type: primary_key, columns: [ID]}", "{type: not_null, columns: [total]}")[:2] == (
        "blocked",
        ["breaking: no longer required", "breaking for producers: required"],
    )
    assert reviewed("paid > 0", "paid > 1") == ("note", ["breaking for producers: rule tightened"], ())
    assert reviewed("meta: {owner: [ada, bob]}", "tags: []")[0] == "blocked"
    assert reviewed("owner: [ada, bob]", "owner: ada")[:2] == ("approval needed", ["ownership: owner changed"])


def test_a_contract_without_an_owner_may_stay_without() -> None:
    plain = SHOP.replace("      meta: {owner: [ada, bob]}\n", "")
    before, after = contracts(plain)["orders"], contracts(plain.replace("bigint", "int"))["orders"]
    assert [one.kind for one in compare_contracts(before, after)] == ["type"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(MODEL | COLUMN)), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_files_of_any_shape_are_checked(one: Any, other: Any) -> None:
    model = {"name": "a", "config": {"contract": {"enforced": True}}, "columns": one, "versions": other}
    text = yaml.safe_dump({"models": [model, one, other]})
    found, checked = read_file(text, "a.yml")
    assert isinstance(checked, Checked)
    assert not (found and checked.problems)
