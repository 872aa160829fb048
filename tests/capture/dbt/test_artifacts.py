"""Artifacts of every version and shape; what the warehouse is; what is cut out of compiled SQL."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.capture.dbt import capture, project_events
from whence.capture.dbt.artifacts.commit import commit_of
from whence.capture.dbt.artifacts.connection import Warehouse, profile_of, warehouse
from whence.capture.dbt.artifacts.ephemeral import split_ephemeral
from whence.capture.dbt.artifacts.files import project
from whence.errors import ArtifactError
from whence.openlineage.accept import accept
from whence_client.events.runs import RunRef

NOWHERE = Path("/nowhere")
SNOWFLAKE = Warehouse("snowflake://org-account", "snowflake")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def node(name: str, sql: str, *parents: str, **more: Any) -> dict[str, Any]:
    return {
        "unique_id": f"model.shop.{name}",
        "resource_type": "model",
        "package_name": "shop",
        "name": name,
        "alias": name,
        "database": "analytics",
        "schema": "prod",
        "relation_name": f"analytics.prod.{name}",
        "config": {"materialized": "table"},
        "compiled_code": sql,
        "columns": {},
        "depends_on": {"nodes": [f"model.shop.{parent}" for parent in parents]},
        **more,
    }


def manifest(*nodes: dict[str, Any], version: int = 12) -> dict[str, Any]:
    schema = f"https://schemas.getdbt.com/dbt/manifest/v{version}.json"
    head = {"dbt_schema_version": schema, "generated_at": "2026-02-01T00:00:00Z", "adapter_type": "snowflake"}
    return {"metadata": head, "nodes": {child["unique_id"]: child for child in nodes}, "sources": {}}


def events(artifact: dict[str, Any], at: Warehouse = SNOWFLAKE) -> list[dict[str, Any]]:
    found = list(project_events(project(artifact, {}, {}, {}, NOWHERE), at))
    for one in found:
        accept(json.dumps(one).encode(), strict=True)
    return found


@pytest.mark.parametrize(("version", "key"), [(7, "compiled_code"), (12, "compiled_code"), (6, "compiled_sql")])
def test_compiled_sql_of_every_version(version: int, key: str) -> None:
    one = node("orders", "")
    one[key] = "select id from raw.orders"
    artifact = manifest(one, version=version)
    (job,) = [event for event in events(artifact) if "job" in event]
    assert job["job"]["facets"]["sql"]["query"] == "select id from raw.orders"
    assert set(job["outputs"][0]["facets"]["columnLineage"]["fields"]) == {"ID"}


def test_names_are_folded_as_the_warehouse_does_and_the_manifests_spelling_is_an_alias() -> None:
    (job,) = [event for event in events(manifest(node("orders", "select id from raw.crm.people"))) if "job" in event]
    assert [dataset["name"] for dataset in job["inputs"]] == ["RAW.CRM.PEOPLE"]
    (output,) = job["outputs"]
    assert output["name"] == "ANALYTICS.PROD.ORDERS"
    spellings = output["facets"]["symlinks"]["identifiers"]
    assert [(spelling["name"], spelling["type"]) for spelling in spellings] == [
        ("analytics.prod.orders", "DBT_RELATION")
    ]


@pytest.mark.parametrize(
    ("relation", "file"),
    [
        ("'/Lake/pay''s.parquet'", ("file", "/Lake/pay's.parquet")),
        ("'s3://lake/raw/payments.parquet'", ("s3://lake", "raw/payments.parquet")),
        ("read_csv('/lake/payments.csv', header=true)", ("file", "/lake/payments.csv")),
        ('"shop"."lake"."payments"', ("duckdb:///shop.duckdb", "shop.lake.payments")),
    ],
)
def test_an_external_source_of_duckdb_is_its_file(relation: str, file: tuple[str, str]) -> None:
    source = {
        **node("payments", ""),
        "unique_id": "source.shop.lake.payments",
        "resource_type": "source",
        "source_name": "lake",
        "database": "shop",
        "schema": "lake",
        "relation_name": relation,
    }
    built = node("spend", f"select amount from {relation}", relation_name='"shop"."main"."spend"')
    artifact = {**manifest(built), "sources": {source["unique_id"]: source}}
    found = events(artifact, Warehouse("duckdb:///shop.duckdb", "duckdb"))
    (job,) = [event for event in found if "job" in event]
    assert [(one["namespace"], one["name"]) for one in job["inputs"]] == [file]
    declared = {(one["dataset"]["namespace"], one["dataset"]["name"]) for one in found if "dataset" in one}
    assert file in declared
    aliases = [one["dataset"]["facets"] for one in found if one.get("dataset", {}).get("name") == source["unique_id"]]
    assert [(one["namespace"], one["name"]) for one in aliases[0]["symlinks"]["identifiers"]] == [file]


def test_a_command_is_a_part_of_the_run_around_it() -> None:
    results = {
        "metadata": {"invocation_id": "018c0000-0000-7000-8000-000000000001", "generated_at": "2026-02-01T00:01:00Z"},
        "args": {"which": "build"},
        "results": [],
    }
    task = RunRef("prod", "shop.build", "018c0000-0000-7000-8000-000000000002")
    artifact = project(manifest(node("orders", "select 1 as id")), {}, results, {}, NOWHERE)
    runs = [one["run"] for one in project_events(artifact, SNOWFLAKE, parent=task) if "run" in one]
    assert [one["facets"]["parent"]["job"]["name"] for one in runs] == ["shop.build", "shop.build"]
    alone = [one["run"]["facets"] for one in project_events(artifact, SNOWFLAKE) if "run" in one]
    assert not [one for one in alone if "parent" in one]


@pytest.mark.parametrize(
    ("dialect", "catalog", "field", "source"),
    [
        ("snowflake", True, "Id", "orderId"),
        ("snowflake", False, "ID", "ORDERID"),
        ("duckdb", True, "Id", "orderId"),
        ("duckdb", False, "id", "orderid"),
        ("postgres", True, "Id", "orderId"),
    ],
)
def test_columns_have_the_spelling_of_the_warehouse(dialect: str, catalog: bool, field: str, source: str) -> None:
    """`Id` made of `orderId`; without a catalog they are what the dialect makes of what the project writes."""
    names = ('"orderId"', '"Id"') if catalog else ("orderId", "Id")
    base, orders = {"orderId": {"name": "orderId"}}, {"Id": {"name": "Id"}}
    artifact = manifest(
        node("base", "select 1", columns=base),
        node("orders", "select {} as {} from analytics.prod.base".format(*names), columns=orders),
    )
    shown = {"model.shop.base": {"columns": base}, "model.shop.orders": {"columns": orders}} if catalog else {}
    read = project(artifact, {"nodes": shown}, {}, {}, NOWHERE)
    found = [event for event in project_events(read, Warehouse("db", dialect)) if "job" in event]
    facets = found[1]["outputs"][0]["facets"]
    ((target, one),) = facets["columnLineage"]["fields"].items()
    assert (target, one["inputFields"][0]["field"]) == (field, source)
    assert [facet["name"] for facet in facets["schema"]["fields"]] == [field]
    assert facets["whence_columnEvidence"]["unexplained"] == []


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"compiled_code": None}, "not_compiled"),
        ({"language": "python", "compiled_code": "def model(dbt, session): ..."}, "not_sql"),
        ({"compiled_code": "select nope from analytics.prod.base"}, "column_not_found"),
        ({"compiled_code": "select 1 as id"}, "no_source"),
        ({"compiled_code": "select from where (("}, "statement_not_read"),
    ],
)
def test_reasons(more: dict[str, Any], reason: str) -> None:
    columns = {"id": {"name": "ID"}}
    base = node("base", "select k as id from raw.t", columns=columns, contract={"enforced": True})
    artifact = manifest(
        base, node("orders", "", "base", columns={"id": {"name": "ID"}, "nope": {"name": "NOPE"}}, **more)
    )
    (job,) = [event for event in events(artifact) if event.get("job", {}).get("name", "").endswith("orders")]
    unexplained = job["outputs"][0]["facets"]["whence_columnEvidence"]["unexplained"]
    assert [column["field"] for column in unexplained] == ["ID", "NOPE"]
    assert {column["reason"].partition(":")[0] for column in unexplained} == {reason}


@given(JSON, JSON, JSON, JSON)
def test_artifacts_of_any_shape_are_read(nodes: Any, catalog: Any, results: Any, sources: Any) -> None:
    artifact = {
        "metadata": {"adapter_type": "snowflake"},
        "nodes": {"a": nodes, "b": {**node("b", "select 1"), "meta": nodes}},
    }
    kinds = ("exposures", "metrics", "semantic_models", "groups")
    artifact |= {kind: {"c": nodes, "d": {"type_params": nodes}} for kind in kinds}
    found = project(
        artifact, {"nodes": catalog}, {"metadata": {"x": 1}, "results": results}, {"results": sources}, NOWHERE
    )
    assert "model.shop.b" in found.nodes
    assert [event for event in project_events(found, SNOWFLAKE) if "job" in event]


@pytest.mark.parametrize(
    ("sql", "own", "names"),
    [
        ("select 1", "select 1", []),
        ("with a as (select 1) select * from a", "with a as (select 1) select * from a", []),
        (
            "with __dbt__cte__a as (\nselect ')' -- (\n) select x from __dbt__cte__a",
            "\n\n select x from __dbt__cte__a",
            ["a"],
        ),
        (
            "-- top\nwith recursive __dbt__cte__a as (select 1), __dbt__cte__b as (select 2), c as (select 3) select 4",
            "-- top\nwith recursive c as (select 3) select 4",
            ["a", "b"],
        ),
        ('WITH "__dbt__cte__A" AS (select (1)), b as (select 2) select 3', "with b as (select 2) select 3", ["a"]),
        ("with __dbt__cte__a as (select 1", "with __dbt__cte__a as (select 1", []),
    ],
)
def test_ephemeral_models_are_cut_out(sql: str, own: str, names: list[str]) -> None:
    found = split_ephemeral(sql)
    assert found.own == own
    assert list(found.ephemeral) == [f"__dbt__cte__{name}" for name in names]
    assert found.own.count("\n") == sql.count("\n")


@pytest.mark.parametrize(
    ("adapter", "profile", "namespace"),
    [
        ("postgres", {"host": "db", "port": 5433}, "postgres://db:5433"),
        ("postgres", {"host": "db"}, "postgres://db:5432"),
        ("bigquery", {}, "bigquery"),
        ("snowflake", {"account": "org-account"}, "snowflake://org-account"),
        ("duckdb", {"path": "shop.duckdb"}, "duckdb://shop.duckdb"),
        ("sqlserver", {"server": "db", "port": 1433}, "mssql://db:1433"),
    ],
)
def test_namespaces(adapter: str, profile: dict[str, Any], namespace: str) -> None:
    assert warehouse(adapter, profile).namespace == namespace


def test_a_warehouse_that_nobody_names() -> None:
    assert warehouse("exotic", {}, "exotic://here") == Warehouse("exotic://here", "generic")
    with pytest.raises(ArtifactError, match="--namespace"):
        warehouse("postgres", {})


def test_profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    monkeypatch.setenv("SHOP_HOST", "db.example.org")
    (tmp_path / "profiles.yml").write_text(
        "config: {}\n"
        "shop:\n"
        "  target: prod\n"
        "  outputs:\n"
        "    dev: {type: postgres, host: localhost, port: 5432}\n"
        "    prod:\n"
        "      type: postgres\n"
        "      host: \"{{ env_var('SHOP_HOST') }}\"\n"
        "      port: \"{{ env_var('P', '5433') | int }}\"\n",
        "utf-8",
    )
    assert warehouse("postgres", profile_of(tmp_path, "postgres")).namespace == "postgres://db.example.org:5433"
    assert warehouse("postgres", profile_of(tmp_path, "postgres", "dev")).namespace == "postgres://localhost:5432"
    assert profile_of(tmp_path, "snowflake") == {}


def test_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))  # whatever it lies in
    project_directory = tmp_path / "transform"
    project_directory.mkdir()
    assert commit_of(project_directory) is None
    for words in (
        ["init", "-q", "-b", "main"],
        ["remote", "add", "origin", "https://user:secret@git.example.org/shop.git"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    found = commit_of(project_directory)
    assert found
    assert (found.branch, found.prefix, found.repository) == ("main", "transform/", "https://git.example.org/shop.git")
    url = found.url_of("transform/models/a.sql")
    assert url == f"https://git.example.org/shop/blob/{found.sha}/transform/models/a.sql"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text, "utf-8")
    with pytest.raises(ArtifactError, match=r"manifest\.json"):
        capture(tmp_path)
