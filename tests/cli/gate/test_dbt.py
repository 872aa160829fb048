"""`whence gate --dbt`: two `target/` directories, of merge base and head, judged column by column."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from cli.gate.conftest import BOARD, NOW, WAREHOUSE, Checkout, statement
from fixtures.stores_of_events import apply_bodies
from query.worlds.random_worlds import World, load
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.cli.commands.app import app
from whence.cli.gate.dbt_code import share_columns
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, dataset_event, facet, run_event

RAW, STAGED, DAILY = (DatasetName(WAREHOUSE, f"shop.main.{name}") for name in ("orders", "staged", "daily"))
STAGED_JOB, DAILY_JOB = JobName("dbt", "model.shop.staged"), JobName("dbt", "model.shop.daily")


def _location(path: str) -> str:
    url = f"https://github.example/shop/pipeline/blob/main/{path}"
    return json.dumps({"type": "git", "url": url, "repoUrl": "https://github.example/shop/pipeline", "path": path})


WORLD = World(
    statements=(
        statement(STAGED_JOB, *((RAW, column, STAGED, column) for column in ("id", "amount", "day"))),
        statement(DAILY_JOB, (STAGED, "amount", DAILY, "total"), (STAGED, "day", DAILY, "day")),
        statement(JobName("bi", "board"), (DAILY, "total", BOARD, "bars")),
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


def data_test(name: str, of: str, column: str = "", sql: str = "") -> dict[str, Any]:
    kind, _, _ = name.partition("_of_")
    generic = {} if sql else {"test_metadata": {"name": kind, "kwargs": {"column_name": column}}}
    return {
        "unique_id": f"test.shop.{name}",
        "resource_type": "test",
        "name": name,
        "original_file_path": "models/shop.yml" if generic else f"tests/{name}.sql",
        "attached_node": f"model.shop.{of}",
        "column_name": column or None,
        "compiled_code": sql,
        "depends_on": {"nodes": [f"model.shop.{of}"]},
        **generic,
    }


TESTS = [
    data_test("not_null_of_id", "staged", "id"),
    data_test("not_null_of_amount", "staged", "amount"),
    data_test("unique_of_day", "daily", "day"),
    data_test("positive_total", "daily", sql='select day from "shop"."main"."daily" where total < 0'),
]
STAGED_SQL = 'select id, amount, day from "shop"."main"."orders" where amount > 0'
OTHER_AMOUNT = STAGED_SQL.replace("amount,", "amount * 2 as amount,")
MANIFEST: dict[str, Any] = {
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


MANIFEST["nodes"] |= {one["unique_id"]: one for one in TESTS}


def scan() -> bytes:
    """A run of another tool that checks two columns of `daily`."""
    entries = [{"assertion": "minimum", "column": column, "success": True} for column in ("total", "day")]
    checks = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=entries)}
    run = RunName("5c0da000-0000-4000-8000-000000000001", JobName("soda", "scan"))
    return json.dumps(run_event(NOW, RunState.COMPLETE, run, inputs=[dataset(DAILY, inputFacets=checks)])).encode()


@pytest.fixture
def production(sqlite_store: Engine) -> str:
    load(sqlite_store, WORLD)
    return str(sqlite_store.url)


def judged(checkout: Checkout, store: str, path: Path, sql: str, code: int, *options: str) -> dict[str, Any]:
    """The verdict on a commit that gives `staged` another text, with what dbt compiled of it."""
    verdict: dict[str, Any] = json.loads(written(checkout, store, path, sql, code, *options, "-o", "json"))
    return verdict


def in_schema(schema: str, manifest: dict[str, Any]) -> str:
    """A manifest as dbt writes it for a target with another schema: of models, not of the source."""
    nodes: Any = json.loads(json.dumps(manifest["nodes"]).replace("main", schema))
    for one in nodes.values():
        one["compiled_code"] = one["compiled_code"].replace(f'"{schema}"."orders"', '"main"."orders"')
    return json.dumps(manifest | {"nodes": nodes})


def written(
    checkout: Checkout, store: str, path: Path, sql: str, code: int, *options: str, schema: str = "main"
) -> str:
    """`schema`: that of the models in both manifests."""
    checkout.commit({"shop/models/staged.sql": sql, "shop/models/staged.yml": f"# {sql}\n# {path}\n"})
    head = deepcopy(MANIFEST)
    head["nodes"]["model.shop.staged"].update(compiled_code=sql, raw_code=sql)
    folders = {"base": path / "base/target", "head": checkout.folder / "shop/target"}
    for name, manifest in (("base", MANIFEST), ("head", head)):
        folders[name].mkdir(parents=True, exist_ok=True)
        (folders[name] / "manifest.json").write_text(in_schema(schema, manifest))
    read = ["--dbt", str(folders["head"]), "--dbt-base", str(folders["base"]), "--namespace", WAREHOUSE]
    where = ["--repository", str(checkout.folder), "--base", "main", "--store", store]
    result = CliRunner().invoke(app, ["gate", *where, *read, *options], env={"WHENCE_URL": None})
    assert result.exit_code == code, result.output
    return result.stdout


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


def captured() -> list[bytes]:
    """What `whence capture dbt` reports of the ids of models: other names of their tables."""
    made = []
    for table in (STAGED, DAILY):
        identifiers = [{"namespace": table.namespace, "name": table.name, "type": "TABLE"}]
        own = DatasetName("dbt://shop", f"model.shop.{table.name.rpartition('.')[2]}")
        made.append(
            dataset_event(NOW, own, facets={"symlinks": facet("SymlinksDatasetFacet", identifiers=identifiers)})
        )
    return [json.dumps(one).encode() for one in made]


@pytest.mark.parametrize("resolved", ["by the id of dbt", "by an option", "not at all"])
def test_code_that_was_compiled_for_another_target_has_the_names_of_production(
    checkout: Checkout, production: str, sqlite_store: Engine, tmp_path: Path, resolved: str
) -> None:
    rename = f"{WAREHOUSE}:shop.ci={WAREHOUSE}:shop.main"
    options = ["--dbt-rename", rename] if resolved == "by an option" else []
    apply_bodies(sqlite_store, captured() if resolved == "by the id of dbt" else [])
    code = 7 if resolved == "not at all" else 6
    text = written(checkout, production, tmp_path, OTHER_AMOUNT, code, *options, "-o", "json", schema="ci")
    found = json.loads(text)
    tables = [f"shop.{'ci' if code == 7 else 'main'}.staged:amount"]
    assert [one["node"].removeprefix(f"datasetField:{WAREHOUSE}:") for one in found["changes"]] == tables
    assert [one["file"] for one in found["changes"]] == ["shop/models/staged.sql"]
    assert [one["node"] for one in found["affected"] if one["by"] == "by value"] == (
        [str(BOARD), str(DAILY)] if code == 6 else [str(DAILY).replace("main", "ci")]
    )
    if options:
        tests = written(checkout, production, tmp_path / "tests", OTHER_AMOUNT, 0, *options, "--tests", schema="ci")
        assert "dbt test --select not_null_of_amount positive_total" in tests


def test_the_tests_that_are_enough(checkout: Checkout, production: str, sqlite_store: Engine, tmp_path: Path) -> None:
    apply_bodies(sqlite_store, [scan()])
    text = written(checkout, production, tmp_path, OTHER_AMOUNT, 0, "--tests")
    assert text.splitlines() == [
        "2 of 4 dbt tests are enough: 50% saved",
        "1 of 2 checks of affected datasets are enough: 50% saved",
        "dbt test --select not_null_of_amount positive_total",
        "models/shop.yml::not_null_of_amount  # it reads what changes (shop.main.staged.amount)",
        "tests/positive_total.sql::positive_total  # it reads what is affected (shop.main.daily.total)",
        "soda:scan::shop.main.daily.total::minimum  # it reads what is affected (shop.main.daily.total)",
    ]


def test_the_tests_as_json(checkout: Checkout, production: str, tmp_path: Path) -> None:
    found = judged(checkout, production, tmp_path, STAGED_SQL + " -- the same", 0, "--tests")
    assert (found["dbt_select"], found["dbt"]["known"], found["dbt"]["saved"]) == (None, 4, 1.0)


def test_the_tests_are_not_published(production: str) -> None:
    result = CliRunner().invoke(app, ["gate", "--store", production, "--tests", "-o", "sarif"])
    assert result.exit_code == 2
    assert "--tests is text or JSON" in result.output


def test_both_directories_are_needed(production: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["gate", "--store", production, "--dbt", str(tmp_path)])
    assert result.exit_code == 2
    assert "go together" in result.output
    result = CliRunner().invoke(
        app, ["gate", "--store", production, "--dbt", str(tmp_path), "--dbt-base", str(tmp_path)]
    )
    assert result.exit_code == 1


def test_a_catalog_that_one_directory_lacks_is_no_change() -> None:
    """`dbt docs generate` at the head alone: seeds have no more columns than before, and a star is as it was."""
    star = Code(
        file="m.sql", sql="select * from raw.orders", content="a", table="main.m", builds=DatasetName("pg", "m")
    )
    seed = Code(file="s.csv", sql="", content="1", kind="seed", table="main.s", builds=DatasetName("pg", "s"))
    base = ProjectCode(dialect="postgres", namespace="pg", codes=(star, seed))
    head = replace(base, codes=(star, replace(seed, columns=("id",))), columns={"raw.orders": ("id", "day")})
    assert compare_projects(base, head)
    for versions in ((base, head), (head, base)):
        assert list(compare_projects(*share_columns(*versions))) == []
    other = replace(head, codes=(star, replace(seed, content="2", columns=("id",))))
    assert {one.dataset.name for one in compare_projects(*share_columns(base, other))} == {"s"}
