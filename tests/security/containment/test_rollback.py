"""The rollback point over HTTP: commit and version come from the run's own events in the log, not from later ones."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.stores_of_events import apply
from govern.containment.estates import AT, SECOND
from security.conftest import House
from whence.capture.table_versions.events import record_event
from whence.capture.table_versions.records import TableVersion
from whence.log.segments.read import committed_end
from whence.model.access import Role
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, own_facet, run_event
from whence.store.connection.engine import open_store
from whence_client.events.datasets import Dataset
from whence_client.events.runs import RunRef

RAW, CLEAN = (DatasetName("delta.prod", name) for name in ("raw", "clean"))
MAKE = JobName("prod.etl", "make")


def run_of(number: int) -> RunName:
    return RunName(f"01890000-0000-7000-8000-{number:012d}", MAKE)


def made(number: int, commit: str, version: str) -> bytes:
    """A run that writes a version of CLEAN with the code of a commit."""
    facets = {"version": own_facet("DatasetVersionDatasetFacet", datasetVersion=version)} if version else {}
    event = run_event(
        AT + number * SECOND,
        RunState.COMPLETE,
        run_of(number),
        inputs=[dataset(RAW)],
        outputs=[dataset(CLEAN, facets=facets)],
    )
    code = facet("SourceCodeLocationJobFacet", type="git", url="https://git.example/etl", version=commit)
    event["job"]["facets"] = {"sourceCodeLocation": code}
    return json.dumps(event).encode()


def committed(number: int, version: str) -> bytes:
    """The version of CLEAN whose commit names a run, as a poll of the table reports it."""
    run = run_of(number)
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=AT + number * SECOND - 1)
    record = TableVersion(
        table=Dataset(CLEAN.namespace, CLEAN.name),
        version=version,
        at=at,
        operation="WRITE",
        run=RunRef(run.job.namespace, run.job.name, run.run_id),
    )
    return json.dumps(record_event(record)).encode()


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    return filled(house(), [made(1, "c0ffee1", "7"), made(2, "c0ffee2", ""), made(9, "bad", "9")])


def filled(made_house: House, events: list[bytes]) -> House:
    """A house that was sent some events."""
    fill(made_house.settings.log, events)
    engine = open_store(made_house.settings.store_url)
    apply(engine, list(records_of(made_house.settings.log)), committed_end(made_house.settings.data / "log"))
    engine.dispose()
    return made_house


def test_commit_and_version_are_those_of_the_run(shop: House) -> None:
    reader, others = shop.key("reader", Role.READER), shop.key("others", Role.READER, "delta.*")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        async def ask(second: int, headers: dict[str, str], node: str = str(CLEAN)) -> httpx.Response:
            query = {"node": node, "since": str(AT + second * SECOND)}
            return await client.get("/api/v2/rollback", params=query, headers=headers)

        reply = await ask(1, reader)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()["data"]
        assert found["point"] == str(run_of(1))
        (one,) = found["runs"]
        assert (one["commit"]["version"], one["version"], one["origins"]) == ("c0ffee1", "7", [str(RAW)])
        assert [left["reason"] for left in found["rejected"]] == ["it wrote after the data broke"] * 2
        (one,) = (await ask(5, reader)).json()["data"]["runs"]
        assert (one["commit"]["version"], one["version"]) == ("c0ffee2", None), "commit only"
        hidden = await ask(5, others)
        assert "prod.etl" not in hidden.text
        assert "c0ffee" not in hidden.text
        assert hidden.json()["data"]["checked"] is False
        refused = await ask(5, reader, str(MAKE))
        assert (refused.status_code, "a job has no data" in refused.text) == (422, True)

    shop.run(work)


def test_the_version_may_come_from_a_poll_of_the_table(house: Callable[..., House]) -> None:
    later = [committed(1, "7"), made(1, "c0ffee1", ""), committed(2, "8"), made(2, "c0ffee2", "")]
    shop = filled(house(), [made(1, "c0ffee1", ""), made(2, "c0ffee2", ""), *later])
    reader = shop.key("reader", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for second, version in ((5, "8"), (1, "7")):
            query = {"node": str(CLEAN), "since": str(AT + second * SECOND)}
            reply = await client.get("/api/v2/rollback", params=query, headers=reader)
            (one,) = reply.json()["data"]["runs"]
            assert one["version"] == version

    shop.run(work)
