"""The versions of a dataset over HTTP: those that runs report, and those that the history of its table has."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from fastapi import FastAPI

from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.stores_of_events import apply
from govern.containment.estates import AT, SECOND
from security.conftest import House
from whence.capture.table_versions.events import record_event
from whence.capture.table_versions.records import TableVersion
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.read import committed_end
from whence.model.access import Role
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import Authority
from whence.openlineage.write import dataset, own_facet, run_event
from whence.store.connection.engine import open_store
from whence_client.events.datasets import Dataset
from whence_client.events.runs import RunRef

CLEAN = DatasetName("delta.prod", "clean")
MAKE = JobName("prod.etl", "make")
Json = dict[str, Any]


def run_of(number: int) -> RunName:
    return RunName(f"01890000-0000-7000-8000-{number:012d}", MAKE)


def written(number: int, version: str = "") -> Json:
    """The end of a run that writes the dataset, and reports its version itself if it has one."""
    facets = {"version": own_facet("DatasetVersionDatasetFacet", datasetVersion=version)} if version else {}
    output = dataset(CLEAN, facets=facets)
    return run_event(AT + number * SECOND, RunState.COMPLETE, run_of(number), outputs=[output])


def committed(number: int, version: str, *, run: bool, **more: Any) -> Json:
    """A version in the history of the table, whose commit names a run or none."""
    ref = RunRef(MAKE.namespace, MAKE.name, run_of(number).run_id) if run else None
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=AT + number * SECOND - 5)
    table = Dataset(CLEAN.namespace, CLEAN.name)
    return record_event(TableVersion(table=table, version=version, at=at, run=ref, **more))


EVENTS = [
    written(1, "0"),
    committed(2, "1", run=True, operation="MERGE", rows=12, user="ada"),
    written(2),
    committed(3, "2", run=False, operation="OPTIMIZE", has_new_data=False),
    committed(4, "3", run=False, operation="WRITE", rows=7, before="2", engine="delta-rs"),
    committed(9, "8", run=False, operation="WRITE", lost=4),
]
TIMELINE = [
    ("8", None, "WRITE", True, None, 4),
    ("3", None, "WRITE", True, 7, 0),
    ("2", None, "OPTIMIZE", False, None, 0),
    ("1", str(run_of(2)), "MERGE", True, 12, 0),
    ("0", str(run_of(1)), "", True, None, 0),
]


def filled(house: House, events: list[Json]) -> House:
    fill(house.settings.log, [json.dumps(one).encode() for one in events])
    engine = open_store(house.settings.store_url)
    apply(engine, list(records_of(house.settings.log)), committed_end(house.settings.data / "log"))
    engine.dispose()
    return house


def timeline(reply: httpx.Response) -> list[tuple[Any, ...]]:
    assert reply.status_code == 200, reply.text
    members = ("version", "run", "operation", "has_new_data", "rows", "lost")
    return [tuple(one[name] for name in members) for one in reply.json()["data"]["versions"]]


def test_each_version_has_its_run_and_what_the_table_knows_of_it(house: Callable[..., House]) -> None:
    shop = filled(house(), [*EVENTS[3:], *EVENTS[:3], *EVENTS[::-1]])
    reader = shop.key("reader", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        found = timeline(await client.get("/api/v2/versions", params={"node": str(CLEAN)}, headers=reader))
        assert found == TIMELINE
        refused = await client.get("/api/v2/versions", params={"node": str(MAKE)}, headers=reader)
        assert (refused.status_code, "a job has no versions" in refused.text) == (422, True)

    shop.run(work)


def test_a_version_says_that_its_run_failed_after_the_commit(house: Callable[..., House]) -> None:
    failed = run_event(AT + 6 * SECOND, RunState.FAIL, run_of(6), outputs=[dataset(CLEAN)])
    shop = filled(house(), [*EVENTS, committed(6, "5", run=True, operation="WRITE"), failed])
    reader = shop.key("reader", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        reply = await client.get("/api/v2/versions", params={"node": str(CLEAN)}, headers=reader)
        states = {one["version"]: one["run_state"] for one in reply.json()["data"]["versions"]}
        assert states == {"0": "COMPLETE", "1": "COMPLETE", "2": None, "3": None, "5": "FAIL", "8": None}

    shop.run(work)


def test_runs_of_hidden_jobs_are_counted_and_not_named(house: Callable[..., House]) -> None:
    shop = filled(house(), EVENTS)
    others, stranger = shop.key("others", Role.READER, "delta.*"), shop.key("stranger", Role.READER, "else.*")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        reply = await client.get("/api/v2/versions", params={"node": str(CLEAN)}, headers=others)
        assert [one[0] for one in timeline(reply)] == ["8", "3", "2"]
        assert not any(secret in reply.text for secret in ("prod.etl", "01890000", "make"))
        assert reply.json()["completeness"]["hidden_nodes"] == 2
        unknown = await client.get("/api/v2/versions", params={"node": str(CLEAN)}, headers=stranger)
        assert unknown.status_code == 404

    shop.run(work)


def test_what_a_sender_may_not_assert_of_a_version_is_not_known_of_it(house: Callable[..., House]) -> None:
    """A job may report the version that it wrote to anybody's table, and not what the table's own history has of it."""
    own = committed(5, "9", run=False, operation="RESTORE", rows=1)["dataset"]
    event = run_event(AT + 5 * SECOND, RunState.COMPLETE, run_of(5), outputs=[own])
    sender = Authority(lambda _, namespace: namespace == MAKE.namespace, lambda *_: False)
    sent = accept(json.dumps(event).encode(), authority=sender)
    shop = filled(house(), EVENTS)
    writer = shop.settings.log.open_writer()
    writer.append([Draft(kind=Kind.EVENT, key=bytes.fromhex(sent.key), received_at=0, payload=sent.payload)])
    writer.close()
    reader = shop.key("reader", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        found = timeline(await client.get("/api/v2/versions", params={"node": str(CLEAN)}, headers=reader))
        assert [one for one in found if one[0] == "9"] == [("9", str(run_of(5)), "", True, None, 0)]

    shop = filled(shop, [])
    shop.run(work)
