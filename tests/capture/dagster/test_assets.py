"""Names of assets by their metadata, in the spellings of Dagster's own integrations, and what cannot be named."""

import pytest

from whence.capture.dagster.assets import AssetNames, databases_of, name_relation
from whence.capture.dagster.records import Asset
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset

NAMING = Naming("prod.dagster", "dagster://dagster:3000")
KEY = ("prod", "orders")
DATABASES = "postgresql+psycopg://ann:pw@db/shop, snowflake://acme-prod/ANALYTICS, duckdb:////data/wh.duckdb"


def entries(**texts: str) -> list[Json]:
    return [{"__typename": "TextMetadataEntry", "label": label, "text": text} for label, text in texts.items()]


def name(event: Json, definition: Json | None = None, databases: str = "") -> tuple[str, str, str]:
    asset = Asset(definition=definition or {}, event=event)
    names = AssetNames({KEY: asset}, NAMING, databases_of(databases))
    found = names.name(KEY)
    return found.namespace, found.name, " ".join(names.gaps.values())


@pytest.mark.parametrize(
    ("table", "kind", "expected"),
    [
        ("shop.public.orders", "postgresql", ("postgres://db:5432", "shop.public.orders")),
        ("orders", "postgres", ("postgres://db:5432", "shop.public.orders")),
        ("ANALYTICS.PUBLIC.ORDERS", "Snowflake", ("snowflake://acme-prod", "ANALYTICS.PUBLIC.ORDERS")),
        ("acme.shop.orders", "bigquery", ("bigquery", "acme.shop.orders")),
        ("/data/x.y/wh.duckdb.main.orders", "duckdb", ("duckdb:///data/x.y/wh.duckdb", "wh.main.orders")),
        ("wh.main.orders", "duckdb", ("duckdb:///data/wh.duckdb", "wh.main.orders")),
    ],
)
def test_tables_are_named_by_their_storage(table: str, kind: str, expected: tuple[str, str]) -> None:
    found = name_relation(table, kind, databases_of(DATABASES), NAMING)
    assert isinstance(found, Dataset)
    assert found.key == expected


def test_a_table_of_an_unknown_host_says_what_to_set() -> None:
    metadata = entries(**{"dagster/table_name": "a.b.orders", "dagster/storage_kind": "snowflake"})
    namespace, named, gap = name({"metadataEntries": metadata})
    assert (namespace, named) == ("dagster://dagster:3000", "assets/prod/orders")
    assert "set databases=snowflake://" in gap


def test_a_table_without_a_storage_is_of_the_only_database() -> None:
    metadata = entries(**{"dagster/table_name": "orders"})
    assert name({"metadataEntries": metadata}, databases="mysql://db/shop")[:2] == ("mysql://db:3306", "shop.orders")
    assert name({"metadataEntries": metadata}, databases=DATABASES)[2]


def test_the_storage_may_be_a_tag_of_the_definition() -> None:
    tags = [{"key": "dagster/kind/python", "value": ""}, {"key": "dagster/kind/postgres", "value": ""}]
    event = {"metadataEntries": entries(**{"dagster/table_name": "orders"})}
    assert name(event, {"tags": tags}, DATABASES)[0] == "postgres://db:5432"


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"dagster/uri": "s3a://lake//orders/"}, ("s3://lake", "orders")),
        ({"path": "/lake/orders/2026-11-20"}, ("file", "/lake/orders")),
        ({"path": "/lake/orders/2026-11-20.parquet"}, ("file", "/lake/orders")),
        ({"path": "s3://lake/orders/2026-11-20"}, ("s3://lake", "orders")),
        ({"uri": "gs://lake/orders"}, ("gs://lake", "orders")),
        ({"dagster/uri": "/lake/orders", "path": "/tmp/x"}, ("file", "/lake/orders")),
        ({"dagster/uri": "https://dash.example/orders", "path": "/lake/x"}, ("file", "/lake/x")),
    ],
)
def test_files_are_named_by_their_place(metadata: dict[str, str], expected: tuple[str, str]) -> None:
    found = name({"metadataEntries": entries(**metadata), "partition": "2026-11-20"})
    assert found == (*expected, "")


def test_the_folder_of_partitions_with_two_dimensions_is_the_dataset() -> None:
    event = {"metadataEntries": entries(path="/lake/orders/eu/2026-11-20"), "partition": "eu|2026-11-20"}
    assert name(event)[1] == "/lake/orders"


@pytest.mark.parametrize("metadata", [{}, {"path": "orders.csv"}, {"url": "s3://lake/x"}, {"note": "/lake/x"}])
def test_what_is_no_place_is_known_by_its_key(metadata: dict[str, str]) -> None:
    found = name({"metadataEntries": entries(**metadata)})
    assert found[:2] == ("dagster://dagster:3000", "assets/prod/orders")
    assert "neither dagster/uri" in found[2]


def test_a_uri_of_the_definition_counts_before_a_path_of_the_materialization() -> None:
    event = {"metadataEntries": entries(path="/home/storage/prod/orders")}
    definition = {"metadataEntries": entries(**{"dagster/uri": "s3://lake/orders"})}
    assert name(event, definition)[:2] == ("s3://lake", "orders")


def test_no_password_is_in_a_name() -> None:
    event = {"metadataEntries": entries(**{"dagster/uri": "postgresql://ann:hush-4711@db/shop/public/orders"})}
    assert name(event) == ("postgres://db:5432", "shop.public.orders", "")
