"""The tables that the store knows, for reading SQL with: their present columns, under all the names they have."""

import json

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from query.worlds.random_worlds import World, load
from whence.cli.commands.app import app
from whence.model.names import DatasetName
from whence.query.lookup import table_schemas as tables
from whence.query.lookup.table_schemas import KnownTable, known_tables
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

ORDERS = DatasetName("postgres://prod", "shop.public.orders")
STAGED = DatasetName("postgres://stage", "shop.public.orders")
ITEMS = DatasetName("postgres://prod", "shop.public.Items")
NODE = DatasetName("dbt://shop", "model.shop.Items")
FILES = DatasetName("s3://lake", "raw/days")
TABLE = DatasetName("hive://meta", "lake.days")
BARE = DatasetName("postgres://prod", "shop.public.nobody_says")


def schema(*columns: str) -> str:
    nested = [{"name": "inner", "type": "int"}]
    return json.dumps({"fields": [{"name": column, "type": "x", "fields": nested} for column in columns]})


@pytest.fixture
def loaded(store: Engine) -> Engine:
    load(
        store,
        World(
            statements=(),
            groups=((ITEMS, NODE), (FILES, TABLE)),
            facets=(
                (ORDERS, "schema", schema("id", "amount")),
                (STAGED, "schema", schema("id", "amount", "new")),
                (ITEMS, "schema", schema("order_id", "Price")),
                (FILES, "schema", schema("day")),
                (BARE, "ownership", "{}"),
            ),
        ),
    )
    return store


@pytest.mark.parametrize("page", [1, 2, 1_000])
def test_all_of_a_namespace_or_of_all(loaded: Engine, page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PAGE", page)
    with reading(loaded) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        every, prod = known_tables(catalog, graph), known_tables(catalog, graph, "postgres://prod")
    items = KnownTable(("shop", "public", "Items"), ("order_id", "Price"))
    assert set(every.tables) == {
        items,
        KnownTable(("s3://lake/raw/days",), ("day",)),
        KnownTable(("lake", "days"), ("day",)),
    }
    assert every.unclear == ("shop.public.orders",)
    assert set(prod.tables) == {items, KnownTable(("shop", "public", "orders"), ("id", "amount"))}
    assert prod.unclear == ()


def test_sql_is_read_with_them(loaded: Engine) -> None:
    url = loaded.url.render_as_string(hide_password=False)
    text = 'select * from orders join "Items" on id = order_id'
    command = ["sql", text, "--dialect", "postgres", "--schema", "whence", "--store", url, "-o", "json"]
    result = CliRunner().invoke(app, [*command, "--namespace", "postgres://prod"])
    (statement,) = json.loads(result.stdout)["statements"]
    assert statement["unknowns"] == []
    direct = [edge for edge in statement["edges"] if edge["type"] == "DIRECT"]
    assert {edge["target"]["column"]: edge["confidence"] for edge in direct} == {
        "id": 1.0,
        "amount": 1.0,
        "order_id": 1.0,
        "Price": 1.0,
    }
    unclear = CliRunner().invoke(app, command)
    assert "shop.public.orders; say which with --namespace" in unclear.stderr.replace("\n", " ")
    assert [one["reason"] for one in json.loads(unclear.stdout)["statements"][0]["unknowns"]]
