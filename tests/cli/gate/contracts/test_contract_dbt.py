"""Contracts of dbt's models in files: `whence contract check|diff` and the gate, over the readers in a store."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from cli.gate.conftest import ORDERS, SHOP, Checkout
from cli.gate.contracts.test_contract_gate import whys
from cli.gate.test_sql import judged
from query.worlds.random_worlds import load
from whence.cli.commands.app import app

FILE = "dbt/models/schema.yml"
PROJECT = "name: shop\n"


def schema(*columns: str, enforced: str = "true", name: str = "orders") -> str:
    listed = "".join(f"\n      - {{name: {column}, data_type: int}}" for column in columns)
    return (
        f"version: 2\nmodels:\n  - name: {name}\n    config:\n      contract: {{enforced: {enforced}}}\n"
        f"      meta: {{owner: ada}}\n    columns:{listed}\n"
    )


@pytest.fixture
def production(sqlite_store: Engine) -> str:
    facet = {"uniqueId": "model.shop.orders", "contract": {"enforced": True, "checksum": "0123"}}
    load(sqlite_store, replace(SHOP, facets=(*SHOP.facets, (ORDERS, "whence_dbt", json.dumps(facet)))))
    return str(sqlite_store.url)


def diff(tmp_path: Path, store: str, old: str, new: str, *options: str) -> Result:
    for folder, text in (("old", old), ("new", new)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "schema.yml").write_text(text)
    (tmp_path / "new" / "dbt_project.yml").write_text(PROJECT)
    words = ["contract", "diff", str(tmp_path / "old" / "schema.yml"), str(tmp_path / "new" / "schema.yml")]
    within = ["--readers-within-days", "100000"]
    return CliRunner().invoke(app, [*words, "--store", store, *within, *options], env={"WHENCE_URL": None})


def test_a_file_of_dbt_is_compared_over_its_readers(production: str, tmp_path: Path) -> None:
    old = schema("id", "amount", "note")
    broken = diff(tmp_path, production, old, schema("id", "note"))
    assert broken.exit_code == 5, broken.output
    lines = broken.stdout.splitlines()
    assert lines[0] == "blocked: model.shop.orders"
    assert lines[1].startswith("  breaking: orders.amount: removed: amount  (")
    assert lines[2].startswith("    read by job:airflow:sum, into dataset:postgres://prod:5432:shop.gold.revenue")
    unused = diff(tmp_path, production, old, schema("amount", "note"), "-o", "json")
    document = json.loads(unused.stdout)
    assert (unused.exit_code, document["verdict"]) == (0, "note")
    assert [(one["class"], one["column"]) for one in document["contracts"][0]["changes"]] == [("unused", "id")]
    gone = diff(tmp_path, production, old, schema("id", "amount", "note", enforced="false"))
    assert (gone.exit_code, "breaking: orders: table removed" in gone.stdout) == (5, True)
    assert diff(tmp_path, production, old, old).stdout == "no contract of a model changed\n"
    other = diff(tmp_path, production, schema("a", "b", name="x"), schema("a", name="x"))
    assert "there may be more readers: " in other.stdout


def test_a_directory_has_its_models_checked(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(schema("id"))
    (tmp_path / "b.yml").write_text(schema("id").replace("data_type", "datatype"))
    (tmp_path / "c.yaml").write_text("models: [{name: free}]\n")
    (tmp_path / "d.yaml").write_bytes(b"\xff\x00")
    found = CliRunner().invoke(app, ["contract", "check", str(tmp_path)])
    assert (found.exit_code, found.stdout.splitlines()) == (
        5,
        [
            f"{tmp_path}/b.yml:8: 'data_type' is missing: the contract of orders is enforced",
            f"{tmp_path}/b.yml:8: no key 'datatype' belongs here; did you mean 'data_type'?",
            "1 of 2 contracts valid",
        ],
    )
    wrong = diff(tmp_path, "sqlite:////no/such.db", schema("id"), schema("id").replace("data_type", "x"), "--offline")
    assert (wrong.exit_code, "schema.yml:8" in wrong.stderr) == (2, True)
    applied = CliRunner().invoke(app, ["contract", "apply", str(tmp_path / "a.yml"), "--url", "http://127.0.0.1:9"])
    assert (applied.exit_code, "`whence capture dbt` records" in applied.stderr) == (1, True)


@pytest.fixture
def models(checkout: Checkout) -> Checkout:
    checkout.git("switch", "-q", "main")
    checkout.commit({FILE: schema("id", "amount", "note"), "dbt/dbt_project.yml": PROJECT, "sql/a.sql": "select 1\n"})
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")
    return checkout


@pytest.mark.parametrize(
    ("text", "code", "rules"),
    [
        (schema("id", "note"), 5, {("contract", "contract"), ("contract", "contract-version")}),
        (schema("id", "amount", "note", "more"), 0, {("contract", "contract")}),
        (schema("id", "amount", "note").replace("name: orders", "description: All\n    name: orders"), 0, set()),
        (schema("id", "amount", "note").replace("enforced", "enforcd"), 5, {("contract", "contract-file")}),
        (schema("id", "amount", "note").replace("meta: {owner: ada}", "tags: []"), 5, {("contract", "contract")}),
        (None, 5, {("contract", "contract"), ("contract", "contract-version")}),
    ],
)
def test_the_gate_reviews_the_models_of_changed_files(
    models: Checkout, production: str, tmp_path: Path, text: str | None, code: int, rules: set[tuple[str, str]]
) -> None:
    found = judged(models, production, tmp_path, {FILE: text}, code)
    assert whys(found) == rules
    assert {one["file"] for one in found["changes"]} <= {FILE}


def test_a_model_that_moves_to_another_file_is_the_same(models: Checkout, production: str, tmp_path: Path) -> None:
    moved = {FILE: None, "dbt/models/other.yml": schema("id", "amount", "note")}
    assert judged(models, production, tmp_path, dict(moved), 0)["changes"] == []
    new = {"dbt/models/new.yml": schema("a", name="fresh")}
    assert whys(judged(models, production, tmp_path, dict(new), 0)) == {("contract", "contract")}
