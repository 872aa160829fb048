"""The gate and the contracts of a repository: a break needs the contract's next version, and its owner."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from cli.gate.conftest import WAREHOUSE, Checkout
from cli.gate.test_sql import DAILY, FILES, WORLD, judged
from query.worlds.random_worlds import load

FILE, NOTE = "contracts/daily.odcs.yaml", "contracts/MIGRATION.md"
RENAMED = "create view shop.daily as select day, sum(amount) as income from shop.paid group by day\n"


def contract(version: str, *columns: str, owner: str = "ada", status: str = "active") -> str:
    names = "".join(f"\n      - {{name: {one}, logicalType: number}}" for one in columns)
    team = f"team: {{members: [{{username: {owner}, role: Owner}}]}}\n" if owner else ""
    return (
        f"apiVersion: v3.1.0\nkind: DataContract\nid: daily\nversion: {version}\nstatus: {status}\n{team}"
        f"schema:\n  - name: {DAILY.name}\n    properties:{names}\n"
    )


@pytest.fixture
def models(checkout: Checkout) -> Checkout:
    """The models and the contract of one of them, merged before."""
    checkout.git("switch", "-q", "main")
    checkout.commit({**FILES, FILE: contract("1.0.0", "day", "total")})
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")
    return checkout


@pytest.fixture
def production(sqlite_store: Engine) -> str:
    held = {"id": "daily", "version": "1.0.0", "status": "active", "table": DAILY.name}
    version = {**held, "text": contract("1.0.0", "day", "total")}
    facets = ((DAILY, "whence_contract", json.dumps(held)), (DAILY, "whence_contractVersion_1", json.dumps(version)))
    load(sqlite_store, replace(WORLD, facets=(*WORLD.facets, *facets)))
    return str(sqlite_store.url)


def whys(found: dict[str, Any]) -> set[tuple[str, str]]:
    return {(one["kind"], reason["rule"]) for one in found["changes"] for reason in one["why"]}


def test_a_break_without_a_new_version_is_blocked(models: Checkout, production: str, tmp_path: Path) -> None:
    found = judged(models, production, tmp_path, {"sql/daily.sql": RENAMED}, 5)
    assert ("renamed", "contract") in whys(found)


def test_a_break_with_the_next_version_needs_the_owners(models: Checkout, production: str, tmp_path: Path) -> None:
    files: dict[str, str | None] = {"sql/daily.sql": RENAMED, FILE: contract("2.0.0", "day", "income")}
    blocked = judged(models, production, tmp_path, files, 5)
    assert ("contract", "contract-note") in whys(blocked)
    found = judged(models, production, tmp_path, {NOTE: "# 2.0.0\nUse income.\n"}, 6)
    assert {one["owner"] for one in found["required_approvals"]} >= {"ada", "finance"}
    assert {("renamed", "contract"), ("contract", "contract")} <= whys(found)


def test_what_the_contract_does_not_promise_is_not_its_matter(
    models: Checkout, sqlite_store: Engine, tmp_path: Path
) -> None:
    held = {"id": "daily", "version": "1.0.0", "table": DAILY.name, "text": contract("1.0.0", "day")}
    facets = tuple((DAILY, key, json.dumps(held)) for key in ("whence_contract", "whence_contractVersion_1"))
    load(sqlite_store, replace(WORLD, facets=(*WORLD.facets, *facets)))
    found = judged(models, str(sqlite_store.url), tmp_path, {"sql/daily.sql": RENAMED}, 6)
    assert ("renamed", "contract") not in whys(found)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (contract("1.0.1", "day", "total", owner=""), "contract"),
        (contract("1.1.0", "day"), "contract-version"),
        (contract("0.9.0", "day", "total"), "contract-version"),
        (contract("1.0.1", "day", "total").replace("logicalType", "logicaltype"), "contract-file"),
        (None, "contract"),
    ],
)
def test_what_blocks(models: Checkout, production: str, tmp_path: Path, text: str | None, rule: str) -> None:
    found = judged(models, production, tmp_path, {FILE: text}, 5)
    (change,) = found["changes"]
    assert (change["kind"], change["file"]) == ("contract", FILE)
    assert rule in {reason["rule"] for reason in change["why"]}


def test_a_contract_is_its_id_and_not_its_file(models: Checkout, production: str, tmp_path: Path) -> None:
    moved = "contracts/gold/daily.odcs.yaml"
    assert judged(models, production, tmp_path, {FILE: None, moved: contract("1.0.0", "day", "total")}, 0)
    broken = judged(models, production, tmp_path, {moved: contract("1.1.0", "day")}, 5)
    assert {("contract", "contract-version")} <= whys(broken)
    other = contract("1.0.0", "day").replace("id: daily", "id: other")
    (gone, new) = judged(models, production, tmp_path, {moved: other}, 5)["changes"]
    assert ([one["text"] for one in gone["why"]], [one["text"] for one in new["why"]]) == (
        ["a contract is removed; let its status be retired first"],
        ["a new contract"],
    )


@pytest.mark.parametrize(
    "files",
    [
        {FILE: contract("1.0.1", "day", "total") + "tags: [gold]\n"},
        {FILE: contract("1.1.0", "day", "total", "count")},
        {"contracts/new.odcs.yaml": contract("1.0.0", "a").replace("id: daily", "id: other")},
    ],
)
def test_what_is_only_noted(models: Checkout, production: str, tmp_path: Path, files: dict[str, str | None]) -> None:
    found = judged(models, production, tmp_path, files, 0)
    assert [one["kind"] for one in found["changes"]] == ["contract"]


def test_a_retired_contract_may_go(models: Checkout, production: str, tmp_path: Path) -> None:
    models.git("switch", "-q", "main")
    models.commit({FILE: contract("1.0.0", "day", "total", status="retired")})
    models.git("switch", "-q", "work")
    models.git("rebase", "-q", "main")
    found = judged(models, production, tmp_path, {FILE: None}, 0)
    assert [one["kind"] for one in found["changes"]] == ["contract"]
    assert WAREHOUSE in found["changes"][0]["node"]


@pytest.mark.parametrize("enforced", [True, False])
def test_a_contract_that_dbt_enforces_is_one(
    checkout: Checkout, sqlite_store: Engine, tmp_path: Path, enforced: bool
) -> None:
    """`contract: {enforced: true}` of a model: what others let through if the model is renamed or versioned."""
    checkout.git("switch", "-q", "main")
    checkout.commit(FILES)
    checkout.git("switch", "-q", "work")
    checkout.git("rebase", "-q", "main")
    contract = {"enforced": enforced, "checksum": "0123456789abcdef"}
    dbt = json.dumps({"uniqueId": "model.shop.daily", "contract": contract})
    load(sqlite_store, replace(WORLD, facets=(*WORLD.facets, (DAILY, "whence_dbt", dbt))))
    found = judged(checkout, str(sqlite_store.url), tmp_path, {"sql/daily.sql": RENAMED}, 5 if enforced else 6)
    assert (("renamed", "contract") in whys(found)) is enforced
