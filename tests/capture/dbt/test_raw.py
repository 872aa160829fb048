"""Models that dbt has not compiled: what can be rendered is, marked; what cannot is said; hostile text does no harm."""

import json
from pathlib import Path
from typing import Any

import pytest

from whence.capture.dbt import project_events
from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.files import project
from whence.capture.dbt.compiled import jinja_rendering
from whence.capture.dbt.compiled.jinja_rendering import Raw, Rendered, render, render_all
from whence.capture.sql import Catalog
from whence.openlineage.accept import accept

AT = Warehouse("postgres://db:5432", "postgres")
TABLES = {
    ("ref", "orders"): '"shop"."public"."orders"',
    ("ref", "shop", "orders"): '"shop"."public"."orders"',
    ("ref", "orders", "v2"): '"shop"."public"."orders_v2"',
    ("source", "raw", "Days"): '"shop"."raw"."Days"',
}


def raw(text: str, **more: Any) -> Raw:
    return Raw(id="m", text=text, this='"shop"."public"."m"', relations=TABLES, **more)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("{{ config(materialized='table') }}\nselect 1", "select 1"),
        ("select * from {{ ref('orders') }}", 'select * from "shop"."public"."orders"'),
        ("select * from {{ ref('shop', 'orders') }}", 'select * from "shop"."public"."orders"'),
        ("select * from {{ ref('orders', v=2) }}", 'select * from "shop"."public"."orders_v2"'),
        ("select * from {{ source('raw', 'Days') }}", 'select * from "shop"."raw"."Days"'),
        ("select '{{ var('since', '2020') }}' {% if is_incremental() %}, {{ this }}.a{% endif %}", "select '2020'"),
        ("select {% for one in ['a', 'b'] %}{{ one }}{{ ', ' if not loop.last }}{% endfor %}", "select a, b"),
        ("select '{{ this.identifier }}', {{ config.get('unique_key', 'none') }} {# no #}", "select 'm', none"),
    ],
)
def test_what_has_one_meaning(text: str, sql: str) -> None:
    assert render(raw(text)) == Rendered(sql)


def test_incremental_models_read_themselves_and_macros_of_the_project_are_used() -> None:
    text = "select {{ euros('a') }} {% if is_incremental() %}from {{ this }}{% endif %}"
    macros = "{% macro euros(cents) %}({{ cents }} / 100.0){% endmacro %}"
    assert render(raw(text, incremental=True, macros=macros)).sql == 'select (a / 100.0) from "shop"."public"."m"'


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("select {{ dbt_utils.star(ref('orders')) }}", "dbt_utils"),
        ("select {{ env_var('SECRET') }}", "env_var"),
        ("{% set rows = run_query('select 1') %}", "run_query"),
        ("select {{ target.schema }}", "target"),
        ("select {{ var('since') }}", "since"),
        ("select * from {{ ref('nowhere') }}", "nowhere"),
        ("select {% if %}", "TemplateSyntaxError"),
        ("{{ ref.__globals__ }}", "__globals__"),
        ("{{ ''.__class__.__mro__ }}", "__class__"),
        ("{% for a in range(10000000) %}{% endfor %}", "range"),
        ("{{ cycler.__init__.__globals__.os.system('true') }}", "__init__"),
        ("{% include '/etc/passwd' %}", "loader"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "recursion"),
    ],
)
def test_what_is_not_known_is_said(text: str, what: str) -> None:
    found = render(raw(text))
    assert found.sql == ""
    assert what.lower() in found.unknown.lower()


def test_a_model_that_takes_too_much_costs_no_other() -> None:
    loops = "".join(f"{{% for a{n} in range(90000) %}}" for n in range(4)) + "{% endfor %}" * 4
    grows = "{% set a = 'x' * 1000000 %}" + "{% set a = a ~ a %}" * 40
    models = [("one", "select 1"), ("loops", loops), ("grows", grows), ("two", "select {{ 1 + 1 }}")]
    found = render_all(Raw(id=name, text=text, this="t", relations={}) for name, text in models)
    assert (found["one"].sql, found["two"].sql) == ("select 1", "select 2")
    assert found["loops"].unknown == jinja_rendering._SPENT
    assert found["grows"].sql == ""
    assert found["grows"].unknown


def node(name: str, text: str, *parents: str, **more: Any) -> dict[str, Any]:
    return {
        "unique_id": f"model.shop.{name}",
        "resource_type": "model",
        "package_name": "shop",
        "name": name,
        "database": "shop",
        "schema": "public",
        "relation_name": f'"shop"."public"."{name}"',
        "config": {"materialized": "table"},
        "raw_code": text,
        "columns": {},
        "depends_on": {"nodes": [f"model.shop.{parent}" for parent in parents], "macros": ["macro.shop.twice"]},
        **more,
    }


def test_edges_of_rendered_sql_are_doubted_and_the_rest_has_a_reason() -> None:
    columns = {"a": {"name": "a", "data_type": "int"}}
    macro = {"package_name": "shop", "macro_sql": "{% macro twice(x) %}({{ x }} * 2){% endmacro %}"}
    head = {"generated_at": "2026-02-01T00:00:00Z", "adapter_type": "postgres", "project_name": "shop"}
    nodes = [
        node("first", "select 1 as a", columns=columns, contract={"enforced": True}),
        node("second", "select {{ twice('a') }} as b from {{ ref('first') }}", "first", columns={"b": {"name": "b"}}),
        node(
            "third", "select {{ run_query('x') }} as c from {{ ref('second') }}", "second", columns={"c": {"name": "c"}}
        ),
    ]
    manifest = {
        "metadata": head,
        "nodes": {child["unique_id"]: child for child in nodes},
        "sources": {},
        "macros": {"macro.shop.twice": macro},
    }
    events = list(project_events(project(manifest, {}, {}, {}, Path("/nowhere")), AT))
    for one in events:
        accept(json.dumps(one).encode(), strict=True)
    second, third = (
        next(e for e in events if e.get("job", {}).get("name", "").endswith(name)) for name in ("second", "third")
    )
    (output,) = second["outputs"]
    (source,) = output["facets"]["columnLineage"]["fields"]["b"]["inputFields"]
    assert (source["name"], source["field"]) == ("shop.public.first", "a")
    (doubt,) = output["facets"]["whence_columnEvidence"]["doubts"]
    assert doubt["confidence"] == 0.6
    assert doubt["reason"].startswith("not_compiled")
    (output,) = third["outputs"]
    assert [dataset["name"] for dataset in third["inputs"]] == ["shop.public.second"]
    (bare,) = output["facets"]["whence_columnEvidence"]["unexplained"]
    assert (bare["field"], "run_query" in bare["reason"]) == ("c", True)


def test_columns_of_tables_that_the_artifacts_do_not_know() -> None:
    source = {**node("lines", ""), "unique_id": "source.shop.raw.lines", "resource_type": "source", "schema": "raw"}
    source |= {"relation_name": '"shop"."raw"."lines"', "depends_on": {}}
    model = node(
        "copy", "", compiled_code='select * from "shop"."raw"."lines"', depends_on={"nodes": [source["unique_id"]]}
    )
    head = {"generated_at": "2026-02-01T00:00:00Z", "adapter_type": "postgres", "project_name": "shop"}
    manifest = {"metadata": head, "nodes": {model["unique_id"]: model}, "sources": {source["unique_id"]: source}}
    known = Catalog.from_columns({"raw.lines": ["id", '"Price"'], "raw.other": ["x"]}, "postgres", ["raw"])
    events = project_events(project(manifest, {}, {}, {}, Path("/nowhere")), AT, columns=known)
    (output,) = next(one["outputs"] for one in events if one.get("job", {}).get("name", "").endswith("copy"))
    assert list(output["facets"]["columnLineage"]["fields"]) == ["id", "Price"]
    assert output["facets"]["whence_columnEvidence"]["doubts"] == []
