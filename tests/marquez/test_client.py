"""The published client of Marquez, marquez-python, every method of it, against a running server."""

from collections.abc import Callable

import pytest
from marquez_client import MarquezClient
from marquez_client.errors import APIError
from marquez_client.models import DatasetId, DatasetType, JobType

from api.process import Api
from marquez.shop import DB, LOAD, ORDERS, REPORT, REVENUE, RUNS

pytestmark = pytest.mark.filterwarnings("ignore::deprecation.DeprecatedWarning", "ignore::DeprecationWarning")


@pytest.fixture
def client(live: Api) -> MarquezClient:
    return MarquezClient(f"http://127.0.0.1:{live.port}", timeout_ms=30_000)


def test_namespaces(client: MarquezClient) -> None:
    made = client.create_namespace("s3://made/by hand", "data team", "Made by hand")
    assert (made["name"], made["ownerName"]) == ("s3://made/by hand", "data team")
    assert client.get_namespace("s3://made/by hand") == made
    listed = client.list_namespaces(limit=1000)["namespaces"]
    assert made in listed
    assert {"shop", DB} <= {one["name"] for one in listed}
    assert client.create_namespace("s3://made/by hand", "others")["ownerName"] == "others"


def test_sources(client: MarquezClient) -> None:
    made = client.create_source("warehouse", "postgresql", "jdbc:postgresql://db:5432/shop", "The warehouse")
    assert made["connectionUrl"] == "jdbc:postgresql://db:5432/shop"
    assert (made["type"], made["description"]) == ("POSTGRESQL", "The warehouse")
    assert client.get_source("warehouse") == made
    assert made in client.list_sources(limit=1000)["sources"]


def test_datasets(client: MarquezClient) -> None:
    fields = [{"name": "id", "type": "INTEGER", "description": "The key", "tags": ["KEY"]}]
    client.create_source("warehouse", "postgresql", "jdbc:postgresql://db:5432/shop", "The warehouse")
    made = client.create_dataset(
        "made",
        "public.customers",
        DatasetType.DB_TABLE,
        "shop.public.customers",
        "warehouse",
        description="Who buys",
        fields=fields,
        tags=["PII"],
    )
    assert (made["physicalName"], made["sourceName"]) == ("shop.public.customers", "warehouse")
    assert made["fields"] == [{"name": "id", "type": "INTEGER", "description": "The key", "tags": ["KEY"]}]
    assert (made["tags"], made["description"]) == (["PII"], "Who buys")
    assert client.get_dataset("made", "public.customers") == made
    assert made in client.list_datasets("made")["datasets"]
    versions = client.list_dataset_versions("made", "public.customers")["versions"]
    assert [one["version"] for one in versions] == [made["currentVersion"]]
    assert client.get_dataset_version("made", "public.customers", made["currentVersion"]) == versions[0]


def test_a_stream(client: MarquezClient) -> None:
    client.create_source("broker", "kafka", "kafka://broker:9092")
    made = client.create_dataset(
        "made", "events", DatasetType.STREAM, "events", "broker", schema_location="http://schema"
    )
    assert (made["type"], made["schemaLocation"]) == ("STREAM", "http://schema")


def test_tags(client: MarquezClient) -> None:
    assert client.create_tag("SENSITIVE", "Take care") == {"name": "SENSITIVE", "description": "Take care"}
    assert "SENSITIVE" in client.tag_dataset(REVENUE.namespace, REVENUE.name, "SENSITIVE")["tags"]
    tagged = client.tag_dataset_field(REVENUE.namespace, REVENUE.name, "day", "time")
    assert {one["name"]: one["tags"] for one in tagged["fields"]}["day"] == ["time"]
    assert "time" not in tagged["tags"]
    names = {one["name"] for one in client.list_tags()["tags"]}
    assert {"SENSITIVE", "time", "PII", "certified"} <= names


def test_a_run_from_its_announcement_to_its_end(client: MarquezClient) -> None:
    inputs, outputs = [DatasetId("made", "a")], [DatasetId("made", "b"), DatasetId("made", "c")]
    client.create_source("lake", "s3", "s3://lake")
    for one in "abc":
        client.create_dataset("made", one, DatasetType.DB_TABLE, one, "lake")
    job = client.create_job("made", "copy", JobType.BATCH, "https://git/copy", inputs, outputs, "Copies", {"sql": "…"})
    assert job["inputs"] == [{"namespace": "made", "name": "a"}]
    assert [one["name"] for one in job["outputs"]] == ["b", "c"]
    assert (job["type"], job["location"], job["description"]) == ("BATCH", "https://git/copy", "Copies")
    run = client.create_job_run("made", "copy", nominal_start_time="2026-11-20T00:00:00Z", run_args={"day": "20"})
    assert (run["state"], run["args"], run["startedAt"]) == ("NEW", {"day": "20"}, None)
    assert client.mark_job_run_as_started(run["id"], "2026-11-20T01:00:00Z")["state"] == "RUNNING"
    ended = client.mark_job_run_as_completed(run["id"], "2026-11-20T01:00:02Z")
    assert (ended["state"], ended["durationMs"]) == ("COMPLETED", 2000)
    assert client.get_job_run(run["id"]) == ended
    assert client.get_job("made", "copy")["latestRun"] == ended
    assert client.list_job_runs("made", "copy") == {"runs": [ended], "totalCount": 1}
    assert "copy" in [one["name"] for one in client.list_jobs("made")["jobs"]]


def test_runs_that_fail_or_are_aborted(client: MarquezClient) -> None:
    client.create_job("made", "fragile", JobType.STREAM)
    first = client.create_job_run("made", "fragile", run_id=RUNS[7], mark_as_running=True)
    assert (first["id"], first["state"]) == (RUNS[7], "RUNNING")
    assert client.mark_job_run_as_failed(RUNS[7])["state"] == "FAILED"
    second = client.create_job_run("made", "fragile")
    assert client.mark_job_run_as_aborted(second["id"])["state"] == "ABORTED"


def test_column_lineage(client: MarquezClient) -> None:
    def fields(found: dict[str, object]) -> set[str]:
        graph = found["graph"]
        assert isinstance(graph, list)
        return {one["data"]["dataset"] + "." + one["data"]["field"] for one in graph}

    chain = {"shop.public.orders.amount", "shop.gold.revenue.total", "daily/revenue.csv.sum"}
    assert fields(client.get_column_lineage_by_dataset(REPORT.namespace, REPORT.name)) == chain
    source = client.get_column_lineage_by_dataset_field(DB, ORDERS.name, "amount", with_downstream=True)
    assert fields(source) == chain
    assert fields(client.get_column_lineage_by_dataset_field(DB, ORDERS.name, "amount")) == {
        "shop.public.orders.amount"
    }
    of_job = client.get_column_lineage_by_job(LOAD.namespace, LOAD.name)
    assert fields(of_job) == {"shop.public.orders.amount", "shop.gold.revenue.total"}
    version = client.list_dataset_versions(DB, REVENUE.name)["versions"][-1]["version"]
    assert fields(client.get_column_lineage_by_dataset(DB, REVENUE.name, version=version)) == fields(of_job)


def test_events(client: MarquezClient) -> None:
    found = client.list_events(limit=5)
    assert len(found["events"]) == 5
    assert found["totalCount"] >= 8
    of_shop = client.list_events("shop", limit=100)
    assert of_shop["totalCount"] == len(of_shop["events"])
    assert {one["job"]["namespace"] for one in of_shop["events"]} == {"shop"}


def test_what_is_not_there(client: MarquezClient) -> None:
    requests: tuple[Callable[[], object], ...] = (
        lambda: client.get_namespace("nowhere"),
        lambda: client.get_dataset(DB, "nothing"),
        lambda: client.get_job("shop", "nothing"),
        lambda: client.get_job_run("01941f29-7c00-7abc-8def-00000000ffff"),
        lambda: client.get_source("nothing"),
        lambda: client.tag_dataset(DB, "nothing", "x"),
        lambda: client.mark_job_run_as_started("01941f29-7c00-7abc-8def-00000000ffff"),
        lambda: client.create_job_run("shop", "nothing"),
    )
    for ask in requests:
        with pytest.raises(APIError):
            ask()


def test_every_method_is_called_above() -> None:
    methods = {name for name in vars(MarquezClient) if not name.startswith("_")}
    with open(__file__, encoding="utf-8") as own:
        text = own.read()
    assert {name for name in methods if f"client.{name}(" not in text} == set()
