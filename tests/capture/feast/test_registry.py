"""The registry of a real Feast 0.67.0, recorded by `python -m nightly.feast.record`.

`edges.txt` was written from the text of tests/nightly/feast/shop/features.py.
"""

import json
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.bi.expected import found_lines, read_expected
from fixtures.captured_lineage import dataset_edges, store_events
from whence.capture.bi.events import Declared, Gone, Reading, Record
from whence.capture.bi.reports import Found
from whence.capture.feast.source import FeastRegistry, capture
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.outbox.encoding import encode_event

HERE = Path(__file__).parent
RECORDED = HERE / "feast-0.67.0.json"
OPTIONS = {"connections": str(HERE / "connections.yaml"), "folder": "/lake/shop"}
SECRET = b"hush-4711"
ORDERS = 'feature_views/orders "all"; drop, ü'
Json = dict[str, Any]


def open_registry(path: Path = RECORDED, **options: str) -> FeastRegistry:
    return capture.configure({"registry": str(path), **OPTIONS, **options})


def read_document(document: Mapping[str, Any], directory: Path, **options: str) -> Found:
    path = directory / "registry.json"
    path.write_text(json.dumps(document), "utf-8")
    return open_registry(path, **options).read()


def view(**members: Any) -> Json:
    """A registry with a view of one feature."""
    spec = {"name": "v", "project": "shop", "features": [{"name": "f"}], **members}
    return {"featureViews": [{"spec": spec}]}


@pytest.fixture(scope="module")
def found() -> Found:
    return open_registry().read()


@pytest.fixture(scope="module")
def events() -> list[Json]:
    source = open_registry()
    naming = Naming("ml", source.instance)
    return list(chain.from_iterable(source.translate(one, naming) for one, _ in source.records(None, Window())))


def dataset_of(events: list[Json], name: str) -> Json:
    (one,) = (each["dataset"] for each in events if each.get("dataset", {}).get("name") == name)
    facets: Json = one["facets"]
    return facets


def test_features_have_the_lineage_that_the_definitions_say(found: Found) -> None:
    assert found_lines(found.reports) == read_expected(HERE / "edges.txt")
    assert found.gaps == {}


def test_what_a_function_makes_is_announced(found: Found) -> None:
    unknown = {one.title: dict(one.lineage.unexplained) for one in found.reports if one.lineage.unexplained}
    assert unknown == {
        "clicks by hour": {"customer_id": "opaque_function", "page_count": "opaque_function"},
        "shares": {"share": "opaque_function", "country": "opaque_function"},
        "decades": {"decade": "opaque_function"},
    }


def test_a_view_has_what_feast_knows_of_it(events: list[Json]) -> None:
    facets = dataset_of(events, ORDERS)
    assert facets["datasetType"]["datasetType"] == "FEATURE_VIEW"
    assert facets["ownership"]["owners"] == [{"name": "ada@shop", "type": "OWNER"}]
    assert facets["documentation"]["description"] == "Orders of a customer"
    assert facets["schema"]["fields"] == [
        {"name": "customer_id", "type": "INT64"},
        {"name": "amount", "type": "DOUBLE", "description": "Gross"},
        {"name": "country code", "type": "STRING"},
    ]
    assert {"key": "pii", "value": "no", "source": "FEAST", "field": "amount"} in facets["tags"]["tags"]
    assert {"key": "tier", "value": "gold", "source": "FEAST"} in facets["tags"]["tags"]
    known = {key: value for key, value in facets["whence_feast"].items() if not key.startswith("_")}
    assert known == {
        "project": "shop",
        "entities": [{"name": "customer ü", "joinKey": "customer_id", "description": "Who buys"}],
        "timeToLive": "604800",
        "sources": [
            {
                "name": "orders file",
                "type": "BATCH_FILE",
                "description": "Orders, as they arrive",
                "owner": "bob@shop",
                "timestampField": "ordered_at",
                "tags": {"team": "sales"},
                "fieldMapping": {"amt": "amount", "cust": "customer_id"},
            }
        ],
    }
    shares = dataset_of(events, "feature_views/shares")["whence_feast"]
    assert (shares["requestInputs"], shares["mode"]) == (["total"], "pandas")
    service = dataset_of(events, "feature_services/churn/v1")
    assert service["datasetType"]["datasetType"] == "FEATURE_SERVICE"
    assert service["documentation"]["description"] == "Features of the churn model"
    assert {"key": "model", "value": "churn", "source": "FEAST"} in service["tags"]["tags"]


def test_events_are_valid_and_have_no_secret(events: list[Json]) -> None:
    assert SECRET in RECORDED.read_bytes(), "the fixture has secrets, or this test proves nothing"
    for one in events:
        require_valid(one)
        assert SECRET not in encode_event(one)
        assert accept(encode_event(one)).warnings == ()


def test_a_declaration_has_the_time_of_feast(events: list[Json]) -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))["featureViews"]
    times = {one["spec"]["name"]: one["meta"]["lastUpdatedTimestamp"] for one in recorded}
    declared = {one["dataset"]["name"]: one["eventTime"] for one in events if "dataset" in one}
    for name, at in times.items():
        assert datetime.fromisoformat(declared[f"feature_views/{name}"]) == datetime.fromisoformat(at)


def test_twice_and_shuffled_is_the_same_store(events: list[Json], sqlite_store: Engine) -> None:
    once = store_events(sqlite_store, events)
    assert "shop.sales.spend -> feature_views/postgres" in dataset_edges(once)
    twice = [*events, *events]
    random.Random(67).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_only_changes_are_declared_again(tmp_path: Path) -> None:
    path, clock = tmp_path / "registry.json", datetime(2026, 12, 1, tzinfo=UTC)
    document = json.loads(RECORDED.read_text("utf-8"))
    path.write_text(json.dumps(document), "utf-8")
    source = capture.configure({"registry": str(path), **OPTIONS})
    *_, (_, cursor) = source.records(None, Window())
    assert list(source.records(cursor, Window())) == []
    assert list(source.records(None, Window(until=clock))) == []
    changed = next(one for one in document["featureViews"] if one["spec"]["name"] == "lake")
    changed["spec"]["owner"] = "eve@shop"
    for one in document["featureViews"]:  # as Feast does it when one is applied
        one["meta"]["lastUpdatedTimestamp"] = "2026-12-01T10:00:00Z"
    document["onDemandFeatureViews"] = []
    path.write_text(json.dumps(document), "utf-8")
    records = [one for one, _ in source.records(cursor, Window())]
    assert [_title(one) for one in records] == ["lake", "feature_views/decades", "feature_views/shares", "read"]


def _title(record: Record) -> str:
    match record:
        case Declared():
            return record.report.title
        case Gone():
            return record.name.name
        case Reading():
            return "read"


def test_what_registry_dump_prints_is_read(found: Found, tmp_path: Path) -> None:
    """`feast registry-dump` names the project, and has neither `projects` nor the time of the last change."""
    document = json.loads(RECORDED.read_text("utf-8"))
    dumped = {key: value for key, value in document.items() if isinstance(value, list) and key != "projects"}
    again = read_document({"project": "shop", **dumped}, tmp_path)
    assert (again.reports, again.at) == (found.reports, found.at)


SOURCES: dict[str, Json] = {
    "no address of snowflake": {"type": "BATCH_SNOWFLAKE", "snowflakeOptions": {"table": "T"}},
    "type MongoDBSource reads": {"type": "CUSTOM_SOURCE", "dataSourceClassType": "contrib.MongoDBSource"},
    "type STREAM_KINESIS reads": {"type": "STREAM_KINESIS", "kinesisOptions": {"streamName": "s"}},
    "type BATCH_ICEBERG reads": {"type": "BATCH_ICEBERG"},
    "its path is relative": {"type": "BATCH_FILE", "fileOptions": {"uri": "data/orders.parquet"}},
    "names no file": {"type": "BATCH_FILE"},
    "names no topic": {"type": "STREAM_KAFKA", "kafkaOptions": {"topic": "t"}},
    "neither a table nor a query": {"type": "BATCH_BIGQUERY", "bigqueryOptions": {}},
    "its options cannot be read": {
        "type": "CUSTOM_SOURCE",
        "dataSourceClassType": "x.PostgreSQLSource",
        "customOptions": {"configuration": "no base64"},
    },
    "cannot be read": {"type": "BATCH_BIGQUERY", "bigqueryOptions": {"query": "SELECT FROM WHERE"}},
}


@pytest.mark.parametrize("reason", SOURCES)
def test_a_source_that_is_not_known_is_announced(reason: str, tmp_path: Path) -> None:
    found = read_document(view(batchSource={"name": "src", **SOURCES[reason]}), tmp_path, folder="", connections="")
    (report,) = found.reports
    assert not [edge for edge in report.lineage.edges if edge.type == "DIRECT"]
    assert report.lineage.unexplained == {"f": "not_captured"}
    assert reason in found.gaps["feature_views/v"]


def test_the_name_of_a_source_wins_over_its_system(tmp_path: Path) -> None:
    (tmp_path / "connections.yaml").write_text(
        "snowflake: snowflake://acme/A/B\nown: snowflake://acme-dev/DEV/LAB\n", "utf-8"
    )
    source = {"name": "own", "type": "BATCH_SNOWFLAKE", "snowflakeOptions": {"table": "t; drop"}}
    found = read_document(view(batchSource=source), tmp_path, connections=str(tmp_path / "connections.yaml"))
    assert found_lines(found.reports) == {
        "feature_views/v": {"f <- snowflake://acme-dev DEV.LAB.t; drop.f DIRECT IDENTITY"}
    }


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    document = {**view(), "savedDatasets": [{"spec": {"name": "training", "project": "shop"}}]}
    found = read_document(document, tmp_path)
    assert found.gaps == {"saved dataset training": "it is not read"}
    assert found.reports[0].lineage.unexplained == {"f": "no_source"}


@pytest.mark.parametrize("value", [None, 7, "text", [None, "x", {}], {"spec": 3}, {"spec": {"name": 1}}])
@pytest.mark.parametrize("key", ["featureViews", "featureServices", "entities", "onDemandFeatureViews"])
def test_malformed_objects_stop_nothing(key: str, value: Any, tmp_path: Path) -> None:
    document = {"project": "shop", **view(), "featureServices": [{"spec": {"name": "s", "features": value}}]}
    document[key] = [*document.get(key, []), value] if isinstance(document.get(key), list) else value
    found = read_document(document, tmp_path)
    assert [one.title for one in found.reports] == ["v", "s"]


@pytest.mark.parametrize("key", ["features", "entityColumns", "batchSource", "sources", "tags", "entities", "owner"])
@pytest.mark.parametrize("value", [None, 7, "text", [3], {"x": 3}])
def test_malformed_members_stop_nothing(key: str, value: Any, tmp_path: Path) -> None:
    found = read_document(view(**{key: value}), tmp_path)
    assert [one.title for one in found.reports] == ["v"]


def test_one_project_of_several_is_chosen(tmp_path: Path) -> None:
    document: Json = {"featureViews": [{"spec": {"name": one, "project": one}} for one in ("dev", "prod")]}
    assert [str(one.name) for one in read_document(document, tmp_path, project="prod").reports] == [
        "dataset:feast://prod:feature_views/prod"
    ]
    named = read_document(document, tmp_path, project="dev", namespace="feast://shop/dev")
    assert named.reports[0].name.namespace == "feast://shop/dev"
    with pytest.raises(Exception, match="the projects dev, prod: choose one with project=NAME"):
        read_document(document, tmp_path)
    with pytest.raises(Exception, match="no project staging, but dev, prod"):
        read_document(document, tmp_path, project="staging")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "no JSON"), ("[]", "no registry of Feast"), ('{"a": 1}', "no registry"), ("[" * 100_000, "be read")],
)
def test_a_file_that_is_no_registry_is_a_sentence(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(text, "utf-8")
    with pytest.raises(Exception, match=reason):
        open_registry(tmp_path / "registry.json").read()


def test_a_missing_file_or_option_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="set registry=FILE"):
        capture.configure({})
    missing = open_registry(tmp_path / "none.json")
    assert missing.check().problems == (f"there is no file {tmp_path}/none.json",)
    with pytest.raises(Exception, match="cannot be read"):
        missing.read()
