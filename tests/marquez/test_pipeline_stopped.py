"""Writes while no pipeline runs: the answer is the thing as it will be, and no write waits for an earlier one."""

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from marquez_client import MarquezClient
from marquez_client.models import DatasetId, DatasetType, JobType

from api.process import Api, Serving
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.stores_of_events import apply, apply_lanes
from marquez.conftest import prepare
from marquez.shop import DB, LOAD, ORDERS, REVENUE, RUNS, bodies
from services.kafka_broker import KafkaBroker
from whence.api.catalog.assertions import now_micros
from whence.log import Position
from whence.log.address import open_log
from whence.log.segments.files import segment_path
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import dataset_event, deleted_facet, replace_producer
from whence.store.connection.engine import open_store, read_progress
from whence.store.migrations.migrate import migrate
from whence.store.security.database import security_url
from whence.store.security.signing import signing_secret

pytestmark = pytest.mark.filterwarnings("ignore::deprecation.DeprecatedWarning", "ignore::DeprecationWarning")


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[Api]:
    """An API over the shop without a pipeline."""
    prepare(tmp_path, bodies())
    serving = Serving(tmp_path)
    yield serving()
    serving.end()


def client_of(api: Api) -> MarquezClient:
    return MarquezClient(f"http://127.0.0.1:{api.port}", timeout_ms=60_000)


def catch_up(api: Api) -> None:
    """Do what the pipeline does when it is back."""
    engine, log = open_store(api.store_url), api.data / "log"
    since, end = Position.from_int(read_progress(engine)["log"]), committed_end(log)
    apply(engine, list(read_records(log, since, end)), end)
    engine.dispose()


def v2(api: Api, method: str, node: object, what: str, body: Any = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    path = f"/api/v2/nodes/{quote(str(node), safe='')}/{what}"
    found = api.ask(method, path, sent, {"content-type": "application/json"} if sent else None)
    assert found.status in (200, 202), found
    return found


def test_every_write_answers_with_the_thing_as_it_will_be(stopped: Api) -> None:
    client = client_of(stopped)
    answers: dict[str, Any] = {}
    for owner in ("first", "second"):
        answers["namespace"] = client.create_namespace("new", owner, "A namespace")
        assert answers["namespace"]["ownerName"] == owner
    answers["source"] = client.create_source("wh", "POSTGRESQL", "jdbc:postgresql://h/db", "A source")
    assert client.create_tag("HOT", "Take care") == {"name": "HOT", "description": "Take care"}
    fields = [{"name": "id", "type": "INTEGER", "tags": ["KEY"]}, {"name": "at", "type": "TIMESTAMP"}]
    for name in ("a", "b"):
        made = client.create_dataset("new", name, DatasetType.DB_TABLE, f"p.{name}", "wh", "Rows", fields=fields)
        assert (made["physicalName"], [one["name"] for one in made["fields"]]) == (f"p.{name}", ["id", "at"])
        assert made["currentVersion"]
    client.tag_dataset("new", "a", "one")
    client.tag_dataset_field("new", "a", "at", "time")
    answers["dataset"] = client.tag_dataset("new", "a", "two")
    assert answers["dataset"]["tags"] == ["one", "two"]
    assert [one["tags"] for one in answers["dataset"]["fields"]] == [["KEY"], ["time"]]
    job = client.create_job("new", "copy", JobType.BATCH, "https://git/copy", [DatasetId("new", "a")], [], "Copies")
    assert ([one["name"] for one in job["inputs"]], job["outputs"], job["latestRuns"]) == (["a"], [], None)
    job = client.create_job("new", "copy", JobType.BATCH, "https://git/copy", [], [DatasetId("new", "b")], "Copies")
    assert (job["inputs"], [one["name"] for one in job["outputs"]]) == ([], ["b"])
    run = client.create_job_run("new", "copy", run_id=RUNS[7], run_args={"day": "20"})
    assert (run["id"], run["state"], run["args"]) == (RUNS[7], "NEW", {"day": "20"})
    assert client.mark_job_run_as_started(RUNS[7])["state"] == "RUNNING"
    answers["run"] = client.mark_job_run_as_completed(RUNS[7])
    assert answers["run"]["state"] == "COMPLETED"
    catch_up(stopped)
    assert client.get_namespace("new") == answers["namespace"]
    assert client.get_source("wh") == answers["source"]
    without_time = {key: value for key, value in answers["dataset"].items() if key != "updatedAt"}
    assert client.get_dataset("new", "a").items() >= without_time.items()
    assert client.get_job_run(RUNS[7]) == answers["run"]
    job = client.get_job("new", "copy")
    assert (job["inputs"], [one["name"] for one in job["outputs"]], job["latestRun"]) == ([], ["b"], answers["run"])


def test_what_the_store_has_is_kept(stopped: Api) -> None:
    client = client_of(stopped)
    before = client.get_dataset(DB, ORDERS.name)
    tagged = client.tag_dataset(DB, ORDERS.name, "new")
    assert tagged["tags"] == sorted([*before["tags"], "new"])
    changed = ("tags", "facets", "updatedAt")
    assert {key: tagged[key] for key in tagged if key not in changed} == {
        key: before[key] for key in before if key not in changed
    }
    job = client.get_job(LOAD.namespace, LOAD.name)
    tagged_job = stopped.ask("POST", f"/api/v1/namespaces/{LOAD.namespace}/jobs/{LOAD.name}/tags/nightly").json
    assert (tagged_job["inputs"], tagged_job["outputs"]) == (job["inputs"], job["outputs"])
    assert (tagged_job["tags"], tagged_job["latestRun"]) == ([*job["tags"], "nightly"], job["latestRun"])


def test_deleted_things_are_gone_until_somebody_speaks_of_them(stopped: Api) -> None:
    client = client_of(stopped)
    path = f"/api/v1/namespaces/{quote(DB, safe='')}/datasets/{ORDERS.name}"
    assert stopped.ask("DELETE", path).json["deleted"] is True
    assert stopped.ask("POST", f"{path}/tags/x").status == 404
    client.create_source("wh", "POSTGRESQL", "jdbc:postgresql://h/db")
    made = client.create_dataset(DB, ORDERS.name, DatasetType.DB_TABLE, "o", "wh")
    assert made["deleted"] is False
    catch_up(stopped)
    assert client.get_dataset(DB, ORDERS.name)["deleted"] is False


def test_a_deleted_namespace_takes_what_is_pending_in_it_along(stopped: Api) -> None:
    client = client_of(stopped)
    client.create_source("wh", "POSTGRESQL", "jdbc:postgresql://h/db")
    for space in ("gone", "kept"):
        client.create_namespace(space, "ann")
        client.create_dataset(space, "t", DatasetType.DB_TABLE, "t", "wh")
        client.create_job(space, "j", JobType.BATCH)
    assert stopped.ask("DELETE", "/api/v1/namespaces/gone").json["isHidden"] is True
    for is_derived in (False, True):
        if is_derived:
            catch_up(stopped)
        assert [client.get_namespace(space)["isHidden"] for space in ("gone", "kept")] == [True, False]
        for thing in ("datasets/t", "jobs/j"):
            found = [stopped.ask("GET", f"/api/v1/namespaces/{space}/{thing}").status for space in ("gone", "kept")]
            assert found == [404, 200]


def test_a_restart_loses_no_pending_assertion(stopped: Api) -> None:
    assert v2(stopped, "PUT", ORDERS, "owners/ann").status == 202
    assert v2(stopped, "PUT", ORDERS, "tags/gold").status == 202
    stopped.down(signal.SIGKILL)
    stopped.up()
    answer = v2(stopped, "PUT", ORDERS, "owners/bob")
    assert answer.status == 202
    assert [one["name"] for one in answer.json["data"]["owners"]] == ["ann", "bob"]
    assert v2(stopped, "DELETE", ORDERS, "tags/certified").status == 202
    tags = v2(stopped, "PUT", ORDERS, "tags/silver").json["data"]["tags"]
    catch_up(stopped)
    facts = v2(stopped, "GET", ORDERS, "facts").json["data"]
    assert [one["name"] for one in facts["owners"]] == ["ann", "bob"]
    assert facts["tags"] == tags
    assert {one["key"] for one in tags} == {"PII", "gold", "silver"}


def test_a_change_of_something_that_was_read_is_refused_once_it_changed(stopped: Api) -> None:
    tag = v2(stopped, "GET", REVENUE, "facts").headers["etag"]
    node = quote(str(REVENUE), safe="")
    first = stopped.ask("PUT", f"/api/v2/nodes/{node}/tags/a", headers={"if-match": tag})
    again = stopped.ask("PUT", f"/api/v2/nodes/{node}/tags/b", headers={"if-match": tag})
    assert (first.status, again.status) == (202, 412)
    assert v2(stopped, "GET", REVENUE, "facts").headers["etag"] == first.headers["etag"]
    assert stopped.ask("PUT", f"/api/v2/nodes/{node}/tags/b", headers={"if-match": first.headers["etag"]}).status == 202


def test_a_change_wins_over_an_earlier_one_of_a_clock_that_is_ahead(stopped: Api) -> None:
    ahead = now_micros() + 60_000_000
    gone = dataset_event(ahead, ORDERS, facets={"tags": deleted_facet("TagsDatasetFacet")})
    assert stopped.post(replace_producer(person_uri("ann"), gone)).status == 201
    tags = v2(stopped, "PUT", ORDERS, "tags/new").json["data"]["tags"]
    catch_up(stopped)
    assert [one["key"] for one in tags] == ["new"]
    assert v2(stopped, "GET", ORDERS, "facts").json["data"]["tags"] == tags


def test_damage_of_a_pending_assertion_stops_no_later_one(stopped: Api) -> None:
    damaged = v2(stopped, "PUT", ORDERS, "owners/ann").headers["whence-position"]
    assert v2(stopped, "PUT", ORDERS, "tags/gold").status == 202
    at = Position.parse(damaged)
    with segment_path(stopped.data / "log", at.segment).open("r+b") as segment:
        segment.seek(at.offset + 40)
        segment.write(b"?")
    asserted = v2(stopped, "PUT", ORDERS, "owners/bob").json["data"]
    assert [one["name"] for one in asserted["owners"]] == ["bob"]
    assert {one["key"] for one in asserted["tags"]} == {"PII", "certified", "gold"}
    (seal,) = SegmentLog(stopped.data / "log").list_seals()
    assert (seal.begin, seal.state) == (at, "sealed")


def test_a_store_in_postgresql_does_as_well(tmp_path: Path, postgres_url: str) -> None:
    engine, log = open_store(postgres_url), tmp_path / "log"
    migrate(engine)
    fill(SegmentLog(log), bodies())
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    engine.dispose()
    api = Api(tmp_path, postgres_url, {}).up()
    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda n: v2(api, "PUT", ORDERS, f"owners/o{n}"), range(8)))
        assert {one.status for one in answers} == {202}
        owners = [{one["name"] for one in v2(api, "GET", ORDERS, "facts").json["data"]["owners"]}]
        catch_up(api)
        owners.append({one["name"] for one in v2(api, "GET", ORDERS, "facts").json["data"]["owners"]})
        assert owners == [{f"o{n}" for n in range(8)}] * 2
    finally:
        api.down(signal.SIGKILL)
        api.listening.close()


def test_two_instances_at_once_keep_what_both_say(tmp_path: Path, kafka_broker: KafkaBroker) -> None:
    prepare(tmp_path, bodies())
    serving = Serving(tmp_path)
    first = serving(log_url=kafka_broker.new_topic(partitions=3))
    second = Api(tmp_path / "other", first.store_url, first.options).up()
    try:
        with ThreadPoolExecutor(8) as pool:
            ways = [(api, f"tags/{name}{n}") for n in range(2) for api, name in ((first, "a"), (second, "b"))]
            answers = list(pool.map(lambda way: v2(way[0], "PUT", ORDERS, way[1]), ways))
        assert {one.status for one in answers} == {202}
        expected = {"PII", "certified", *(f"{name}{n}" for n in range(2) for name in "ab")}
        for api in (first, second):
            answered = v2(api, "PUT", ORDERS, "tags/certified").json["data"]["tags"]
            assert {one["key"] for one in answered} == expected
        secret = partial(signing_secret, security_url(first.store_url))
        log, engine = open_log(str(first.options["log_url"]), secret), open_store(first.store_url)
        apply_lanes(engine, records_of(log), {lane.name: lane.end for lane in log.list_lanes()})
        engine.dispose()
        assert [tags_of(api) for api in (first, second)] == [expected, expected]
    finally:
        second.down(signal.SIGKILL)
        second.listening.close()
        serving.end()


def tags_of(api: Api) -> set[str]:
    return {one["key"] for one in v2(api, "GET", ORDERS, "facts").json["data"]["tags"]}
