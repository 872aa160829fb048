"""Found by driving a real dbt: one project in two environments, and models of which some columns are described."""

from pathlib import Path
from typing import Any

from whence.capture.dbt import project_events
from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.files import project

CTE = "with __dbt__cte__paid as (select order_id, cents from analytics.{0}.stg_orders)"


def node(name: str, schema: str, sql: str, *parents: str, **more: Any) -> dict[str, Any]:
    return {
        "unique_id": f"model.shop.{name}",
        "resource_type": "model",
        "package_name": "shop",
        "name": name,
        "alias": name,
        "database": "analytics",
        "schema": schema,
        "relation_name": f"analytics.{schema}.{name}",
        "config": {"materialized": "table"},
        "compiled_code": sql,
        "columns": {},
        "depends_on": {"nodes": [f"model.shop.{parent}" for parent in parents]},
        **more,
    }


def events(schema: str) -> list[dict[str, Any]]:
    described = {"order_id": {"name": "order_id", "description": "whose it is"}}
    ephemeral = {"config": {"materialized": "ephemeral"}, "relation_name": None}
    nodes = [
        node("stg_orders", schema, "select 1 as order_id, 2 as cents", columns=described),
        node("paid", schema, f"select order_id, cents from analytics.{schema}.stg_orders", "stg_orders", **ephemeral),
        node("revenue", schema, f"{CTE.format(schema)} select sum(cents) as total from __dbt__cte__paid", "paid"),
    ]
    head = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "generated_at": "2026-02-01T00:00:00Z",
        "adapter_type": "duckdb",
    }
    manifest = {"metadata": head, "nodes": {child["unique_id"]: child for child in nodes}, "sources": {}}
    return list(project_events(project(manifest, {}, {}, {}, Path("/nowhere")), Warehouse("duckdb:///shop", "duckdb")))


def ends(some: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Each DIRECT flow, as (source, target)."""
    return {
        (f"{source['name']}.{source['field']}", f"{output['name']}.{column}")
        for event in some
        for output in event.get("outputs", [])
        for column, field in output["facets"].get("columnLineage", {"fields": {}})["fields"].items()
        for source in field["inputFields"]
    }


def test_an_ephemeral_model_of_one_environment_is_not_that_of_another() -> None:
    """Its dataset was `dbt://shop`, and dev's tables were upstream of prod's."""
    prod, dev = (
        {one["name"] for event in events(schema) for side in ("inputs", "outputs") for one in event.get(side, [])}
        for schema in ("prod", "dev")
    )
    assert prod == {"analytics.prod.stg_orders", "analytics.prod.paid", "analytics.prod.revenue"}
    assert not prod & dev


def test_a_table_that_is_called_as_an_ephemeral_model_is_another_dataset() -> None:
    """dbt allows it, since the model has no table."""
    ephemeral = {"config": {"materialized": "ephemeral"}, "relation_name": None}
    source = {"unique_id": "source.shop.raw.paid", "resource_type": "source", "name": "paid", "identifier": "paid"}
    source |= {"database": "analytics", "schema": "prod", "relation_name": "analytics.prod.paid", "source_name": "raw"}
    model = node("paid", "prod", "select a from analytics.prod.paid", **ephemeral)
    model["depends_on"] = {"nodes": ["source.shop.raw.paid"]}
    head = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "adapter_type": "duckdb"}
    head["generated_at"] = "2026-02-01T00:00:00Z"
    manifest = {"metadata": head, "nodes": {"model.shop.paid": model}, "sources": {"source.shop.raw.paid": source}}
    found = project(manifest, {}, {}, {}, Path("/nowhere"))
    written = project_events(found, Warehouse("duckdb:///shop", "duckdb"))
    outputs = {output["name"] for event in written for output in event.get("outputs", [])}
    assert outputs == {"model.shop.paid"}


def test_columns_that_nobody_described_have_lineage_all_the_same() -> None:
    """The one described column was taken for all of the table, and `cents` came from nowhere, without a word."""
    assert ends(events("prod")) >= {
        ("analytics.prod.stg_orders.order_id", "analytics.prod.paid.order_id"),
        ("analytics.prod.stg_orders.cents", "analytics.prod.paid.cents"),
        ("analytics.prod.paid.cents", "analytics.prod.revenue.total"),
    }
