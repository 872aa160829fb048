"""Two manifests of dbt: which datasets change for their readers."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.files import project as project_of
from whence.capture.dbt.code import project_code
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.changes import ChangeKind, ColumnChange

WAREHOUSE = Warehouse("duckdb://shop.db", "duckdb")
RELATION = '"shop"."main"."{}"'


def node(name: str, sql: str, parents: tuple[str, ...] = (), kind: str = "model", **members: Any) -> dict[str, Any]:
    """A node of a manifest, as dbt 1.10 writes it; `config` is merged."""
    config = {"materialized": "table", **members.pop("config", {})}
    return {
        "unique_id": f"{kind}.shop.{name}",
        "resource_type": kind,
        "name": name,
        "package_name": "shop",
        "database": "shop",
        "schema": "main",
        "relation_name": None if config["materialized"] == "ephemeral" else RELATION.format(name),
        "original_file_path": f"models/{name}.sql",
        "compiled_code": sql,
        "raw_code": sql,
        "language": "sql",
        "config": config,
        "depends_on": {"nodes": list(parents), "macros": []},
        **members,
    }


def manifest() -> dict[str, Any]:
    """A source, a seed, an ephemeral model, an incremental one, a snapshot, a Python model, and readers of them."""
    source = node("orders", "", kind="source", unique_id="source.shop.raw.orders", config={"materialized": ""})
    cte = '__dbt__cte__eph as (select id, amount * 2 as double from "shop"."main"."orders")'
    eph = node(
        "eph",
        'select id, amount * 2 as double from "shop"."main"."orders"',
        ("source.shop.raw.orders",),
        config={"materialized": "ephemeral"},
    )
    nodes = [
        eph,
        node(
            "codes", "", kind="seed", checksum={"name": "sha256", "checksum": "1"}, columns={"code": {"name": "code"}}
        ),
        node("uses", f"with {cte} select id, double from __dbt__cte__eph", ("model.shop.eph",)),
        node(
            "inc",
            'select id, day from "shop"."main"."orders" where amount > 1'
            ' and day > (select max(day) from "shop"."main"."inc")',
            ("source.shop.raw.orders",),
            config={"materialized": "incremental", "unique_key": "id"},
        ),
        node("snap", 'select * from "shop"."main"."inc"', ("model.shop.inc",), kind="snapshot"),
        node("py", "", ("model.shop.inc",), language="python", compiled_code="def model(): return 1", raw_code="def 1"),
        node("coded", 'select code from "shop"."main"."codes"', ("seed.shop.codes",)),
        node("counted", 'select count(*) as n from "shop"."main"."uses"', ("model.shop.uses",)),
    ]
    head = {"project_name": "shop", "adapter_type": "duckdb", "dbt_version": "1.10.0"}
    return {
        "metadata": head,
        "nodes": {one["unique_id"]: one for one in nodes},
        "sources": {source["unique_id"]: source},
    }


def changes(edit: Any) -> list[ColumnChange]:
    head = deepcopy(manifest())
    edit(head["nodes"])
    before, after = (project_code(project_of(one, {}, {}, {}, Path("target")), WAREHOUSE) for one in (manifest(), head))
    return list(compare_projects(before, after))


def shown(found: list[ColumnChange]) -> list[str]:
    names = [one.dataset.name.removeprefix("shop.main.") + (f".{one.column}" if one.column else "") for one in found]
    return [f"{name} {one.kind}{' (inherited)' * one.inherited}" for name, one in zip(names, found, strict=True)]


def test_a_project_is_equal_to_itself() -> None:
    assert changes(lambda nodes: None) == []


def test_an_ephemeral_model_is_the_cause_not_the_models_that_include_it() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        for name in ("model.shop.eph", "model.shop.uses"):
            nodes[name]["compiled_code"] = nodes[name]["compiled_code"].replace("* 2", "* 3")

    assert shown(changes(edit)) == ["eph.double values", "uses.double values (inherited)"]


def test_an_incremental_model_and_its_snapshot_change_from_now_on() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        model = nodes["model.shop.inc"]
        model["compiled_code"] = model["compiled_code"].replace("> 1", "> 2")

    found = changes(edit)
    assert shown(found) == ["inc rows", "snap rows (inherited)"]
    assert all(one.new_rows_only for one in found)


def test_a_unique_key_decides_on_rows() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        nodes["model.shop.inc"]["config"]["unique_key"] = ["id", "day"]

    first, *_ = changes(edit)
    assert (first.kind, first.new_rows_only) == (ChangeKind.ROWS, True)
    assert "unique_key" in first.reason


def test_a_seed_with_other_content_is_an_unknown_change_of_its_readers_too() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        nodes["seed.shop.codes"]["checksum"]["checksum"] = "2"

    assert shown(changes(edit)) == ["codes unknown", "coded rows (inherited)"]


def test_a_python_model_is_unknown() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        nodes["model.shop.py"]["raw_code"] = "def 2"

    assert shown(changes(edit)) == ["py unknown"]


def test_descriptions_and_tags_are_metadata() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        nodes["model.shop.inc"] |= {"description": "orders", "tags": ["daily"]}

    assert shown(changes(edit)) == ["inc metadata", "inc metadata"]


def test_the_line_is_that_of_the_file_of_its_author() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        model = nodes["model.shop.inc"]
        model["compiled_code"] = model["compiled_code"].replace("select id, day", "select id,\n  day + 1 as day\n")
        model["raw_code"] = (
            "{{ config(unique_key='id') }}\n\nselect id,\n  day + 1 as day\nfrom {{ source('raw', 'orders') }}"
        )

    (own, *_) = [one for one in changes(edit) if one.column == "day"]
    assert (own.file, own.line) == ("models/inc.sql", 4)


def test_a_model_that_dbt_did_not_compile_is_rendered() -> None:
    def uncompiled(nodes: dict[str, Any], least: int) -> None:
        model = nodes["model.shop.inc"]
        model["compiled_code"] = ""
        where = f"where amount > {least} and day > (select max(day) from {{{{ this }}}})"
        model["raw_code"] = "select id, day from {{ source('raw', 'orders') }} " + where

    assert shown(changes(lambda nodes: uncompiled(nodes, 1))) == []
    assert shown(changes(lambda nodes: uncompiled(nodes, 2)))[0] == "inc rows"


def test_a_model_that_nobody_can_render_is_unknown_when_its_text_changes() -> None:
    def edit(nodes: dict[str, Any]) -> None:
        model = nodes["model.shop.inc"]
        model |= {"compiled_code": "", "raw_code": "{{ some_package.macro_that_is_not_here() }}"}

    assert "inc unknown" in shown(changes(edit))


def test_tests_declare_keys_as_the_dialect_folds_them() -> None:
    def data_test(name: str, of: str = "model.shop.uses", column: str = "", **more: Any) -> dict[str, Any]:
        config = more.pop("config", {})
        return {
            "unique_id": f"test.shop.{name}.{of}.{column}.{len(str(more))}{len(str(config))}",
            "resource_type": "test",
            "name": name,
            "attached_node": of,
            "column_name": column or None,
            "config": {"severity": "ERROR", **config},
            "test_metadata": {"name": name, "kwargs": {"column_name": column, **more}},
        }

    whole = manifest()
    tests = [
        data_test("unique", column="ID"),
        data_test("not_null", column="id"),
        data_test("unique", column="double"),
        data_test("unique", column="a", config={"severity": "warn"}),
        data_test("unique", column="b", config={"where": "b > 1"}),
        data_test("unique", column="c", config={"error_if": ">10"}),
        data_test("unique_combination_of_columns", combination_of_columns=["id", "double"]),
    ]
    whole["nodes"] |= {one["unique_id"]: one for one in tests}
    code = project_code(project_of(whole, {}, {}, {}, Path("target")), WAREHOUSE)
    assert {table: [(one.columns, one.is_complete) for one in keys] for table, keys in code.keys.items()} == {
        '"shop"."main"."uses"': [(("id",), True), (("double",), False), (("id", "double"), False)]
    }


@pytest.mark.parametrize(("kind", "kinds"), [("DATE", []), ("TIMESTAMP", [ChangeKind.ROWS]), ("", [ChangeKind.ROWS])])
def test_the_types_of_a_source_in_the_catalog_tell_whether_a_column_has_days(
    kind: str, kinds: list[ChangeKind]
) -> None:
    columns = {name: {"name": name, "type": kind, "index": 1} for name in ("id", "day")}
    catalog = {"sources": {"source.shop.raw.orders": {"columns": columns}}, "nodes": {}}
    versions = []
    for condition in ("day < date '2024-02-01'", "day <= '2024-01-31'"):
        version = manifest()
        source = version["sources"]["source.shop.raw.orders"]["relation_name"]
        version["nodes"]["model.shop.typed"] = node(
            "typed", f"select id from {source} where {condition}", ("source.shop.raw.orders",)
        )
        versions.append(project_code(project_of(version, catalog, {}, {}, Path("target")), WAREHOUSE))
    found = [one.kind for one in compare_projects(versions[0], versions[1]) if one.dataset.name.endswith("typed")]
    assert found == kinds
