"""`whence gate --dbt`: two `target/` directories, of merge base and head, judged column by column."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from cli.gate.conftest import BOARD, WAREHOUSE, Checkout, said
from query.worlds.random_worlds import World, load
from whence.cli.commands.app import app
from whence.model.names import DatasetName, JobName

RAW, STAGED, DAILY = (DatasetName(WAREHOUSE, f"shop.main.{name}") for name in ("orders", "staged", "daily"))
STAGED_JOB, DAILY_JOB = JobName("dbt", "model.shop.staged"), JobName("dbt", "model.shop.daily")


def _location(path: str) -> str:
    url = f"https://github.example/shop/pipeline/blob/main/{path}"
    return json.dumps({"type": "git", "url": url, "repoUrl": "https://github.example/shop/pipeline", "path": path})


WORLD = World(
    said=(
        said(STAGED_JOB, *((RAW, column, STAGED, column) for column in ("id", "amount", "day"))),
        said(DAILY_JOB, (STAGED, "amount", DAILY, "total"), (STAGED, "day", DAILY, "day")),
        said(JobName("bi", "board"), (DAILY, "total", BOARD, "bars")),
    ),
    facets=(
        (STAGED_JOB, "sourceCodeLocation", _location("shop/models/staged.sql")),
        (BOARD, "datasetType", json.dumps({"datasetType": "DASHBOARD"})),
        (DAILY, "tags", json.dumps({"tags": [{"key": "certified", "value": "true"}]})),
        (DAILY, "ownership", json.dumps({"owners": [{"name": "finance"}]})),
    ),
)


def node(name: str, sql: str, parent: str, kind: str = "model") -> dict[str, Any]:
    return {
        "unique_id": f"{kind}.shop.{name}",
        "resource_type": kind,
        "name": name,
        "package_name": "shop",
        "database": "shop",
        "schema": "main",
        "relation_name": f'"shop"."main"."{name}"',
        "original_file_path": f"models/{name}.sql",
        "compiled_code": sql,
        "raw_code": sql,
        "language": "sql",
        "config": {"materialized": "table"},
        "depends_on": {"nodes": [parent], "macros": []},
    }


STAGED_SQL = 'select id, amount, day from "shop"."main"."orders" where amount > 0'
MANIFEST = {
    "metadata": {"project_name": "shop", "adapter_type": "postgres", "dbt_version": "1.10.0"},
    "nodes": {
        "model.shop.staged": node("staged", STAGED_SQL, "source.shop.raw.orders"),
        "model.shop.daily": node(
            "daily",
            'select day, sum(amount) as total from "shop"."main"."staged" group by day',
            "model.shop.staged",
        ),
    },
    "sources": {
        "source.shop.raw.orders": {
            **node("orders", "", "", kind="source"),
            "unique_id": "source.shop.raw.orders",
            "columns": {name: {"name": name} for name in ("id", "amount", "day")},
        }
    },
}


@pytest.fixture
def production(sqlite_store: Engine) -> str:
    load(sqlite_store, WORLD)
    return str(sqlite_store.url)


def judged(checkout: Checkout, store: str, path: Path, sql: str, code: int) -> dict[str, Any]:
    """The verdict on a commit that gives `staged` another text, with what dbt compiled of it."""
    checkout.commit({"shop/models/staged.sql": sql, "shop/models/staged.yml": f"# {sql}\n"})
    head = deepcopy(MANIFEST)
    head["nodes"]["model.shop.staged"].update(compiled_code=sql, raw_code=sql)
    folders = {"base": path / "base/target", "head": checkout.folder / "shop/target"}
    for name, manifest in (("base", MANIFEST), ("head", head)):
        folders[name].mkdir(parents=True)
        (folders[name] / "manifest.json").write_text(json.dumps(manifest))
    read = ["--dbt", str(folders["head"]), "--dbt-base", str(folders["base"]), "--namespace", WAREHOUSE]
    where = ["--repository", str(checkout.folder), "--base", "main", "--store", store]
    result = CliRunner().invoke(app, ["gate", *where, *read, "-o", "json"], env={"WHENCE_URL": None})
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_model_of_the_same_meaning_is_silent(checkout: Checkout, production: str, tmp_path: Path) -> None:
    text = '-- positive\nselect o.id, o.amount, o.day from "shop"."main"."orders" as o where 0 < o.amount'
    found = judged(checkout, production, tmp_path, text, 0)
    assert (found["verdict"], found["changes"], found.get("notices", [])) == ("pass", [], [])


def test_another_formula_names_the_board_and_its_owner(checkout: Checkout, production: str, tmp_path: Path) -> None:
    found = judged(checkout, production, tmp_path, STAGED_SQL.replace("amount,", "amount * 2 as amount,"), 6)
    assert [(one["node"].rpartition(":")[2], one["kind"]) for one in found["changes"]] == [("amount", "values")]
    assert [(one["node"], one["by"]) for one in found["affected"]] == [
        (str(BOARD), "by value"),
        (str(DAILY), "by value"),
    ]
    assert [one["owner"] for one in found["required_approvals"]] == ["finance"]


def test_a_removed_column_breaks_the_model_that_reads_it(checkout: Checkout, production: str, tmp_path: Path) -> None:
    found = judged(checkout, production, tmp_path, STAGED_SQL.replace("id, amount, day", "id, day"), 5)
    kinds = {(one["node"].rpartition(".")[2].rpartition(":")[2], one["kind"]) for one in found["changes"]}
    assert {("amount", "removed"), ("daily", "broken reference")} <= kinds


def test_both_directories_are_needed(production: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["gate", "--store", production, "--dbt", str(tmp_path)])
    assert result.exit_code == 2
    assert "go together" in result.output
    result = CliRunner().invoke(
        app, ["gate", "--store", production, "--dbt", str(tmp_path), "--dbt-base", str(tmp_path)]
    )
    assert result.exit_code == 1
