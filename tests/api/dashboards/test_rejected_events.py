"""Events that were rejected or lost: listed, mended, sent again."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from api.asked import asking
from api.dashboards.check_reports import check_event, check_reports
from api.dashboards.pages import paged
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply
from security.conftest import House
from security.conftest import house as house  # a fixture
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.log import Position
from whence.log.address import open_log
from whence.log.segments.files import segment_path
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import Grant, Role
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset_event, run_event
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant

HOUR = 3_600_000_000
BAD = json.dumps({"eventType": "START", "eventTime": "2026-11-20T06:00:00Z", "job": {"namespace": "alpha"}}).encode()


@pytest.fixture
def refused(tmp_path: Path) -> Settings:
    """A log with a refused body in it, and its store."""
    return Settings(data=tmp_path, store_url=f"sqlite:///{tmp_path / 'store.db'}", open=True)


async def _refuse(client: httpx.AsyncClient, settings: Settings) -> str:
    answer = await client.post("/api/v1/lineage", content=BAD)
    assert answer.status_code == 422
    log = settings.data / "log"
    engine = open_migrated(settings.store_url)
    apply(engine, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    engine.dispose()
    return str(answer.json()["position"])


def test_records_without_an_outcome_are_listed(store_url: str, tmp_path: Path) -> None:
    log = open_log(str(tmp_path / "log"))
    fill(log, [check_event(one) for one in check_reports(5, HOUR * 1_000)])
    every = records_of(log)
    lost = {every[7].position, every[8].position, every[50].position}
    engine = open_migrated(store_url)
    apply(engine, [one for one in every if one.position not in lost], log.list_lanes()[0].end)
    engine.dispose()
    with asking(tmp_path, store_url) as client:
        pages = list(paged(client, "/api/v2/lost-records", limit=2))
        assert [one["position"] for page in pages for one in page["data"]["records"]] == [*map(str, sorted(lost))]
        assert [page["data"]["looked"] for page in pages] == [120, 111]
        assert client.get("/api/v2/lost-records", cursor="WzE3XQ").status == 200  # [17]: no record begins there


def test_what_was_refused_is_listed_mended_and_sent_again(refused: Settings) -> None:
    async def work() -> None:
        app = create_app(refused)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            position = await _refuse(client, refused)
            listed = (await client.get("/api/v2/quarantine")).json()["data"]
            assert [(one["position"], one["refusal"]) for one in listed] == [(position, "job")]
            assert (await client.get("/api/v2/quarantine", params={"reason": "json"})).json()["data"] == []
            one = (await client.get(f"/api/v2/quarantine/{position}")).json()["data"]
            assert (one["body"], one["cut"]) == (BAD.decode(), False)
            again = await client.post(f"/api/v2/quarantine/{position}/replay")
            assert (again.status_code, again.json()["reason"]) == (422, one["reason"].partition(": ")[2])
            mended = json.loads(BAD) | {
                "run": {"runId": "0190b3a1-0000-7000-8000-000000000001"},
                "job": {"namespace": "alpha", "name": "mended"},
                "producer": "https://example.org",
            }
            sent = await client.post(f"/api/v2/quarantine/{position}/replay", json={"body": json.dumps(mended)})
            assert sent.status_code == 200
            assert sent.json()["data"]["position"] != position
            place = Position.parse(position)
            inside = Position(place.segment, place.offset + 1)
            for other in ("1:99999999", inside):
                assert (await client.get(f"/api/v2/quarantine/{other}")).status_code == 404
                assert (await client.post(f"/api/v2/quarantine/{other}/replay")).status_code == 404
            _damage(refused.data / "log", place)
            assert (await client.get(f"/api/v2/quarantine/{position}")).status_code == 503

    asyncio.run(work())


def _damage(log: Path, at: Position) -> None:
    file = segment_path(log, at.segment)
    content = bytearray(file.read_bytes())
    content[at.offset + 40] ^= 1
    file.write_bytes(content)


def test_what_is_mended_goes_only_where_one_may_write(house: Callable[..., House]) -> None:
    """The namespace is that of the event as it will be read, whatever it is."""
    made = house()
    keeper = made.key("keeper", Role.READER)
    with write_security(made.engine) as connection:
        add_grant(connection, "key:keeper", Grant(Role.STEWARD, "mine"))
    run = RunName("0190b3a1-0000-7000-8000-000000000001", JobName("theirs", "load"))
    theirs = [dataset_event(5, DatasetName("theirs", "t"), facets={}), run_event(5, RunState.COMPLETE, run)]
    theirs += [one | {"producer": 5} for one in theirs]
    mine = dataset_event(5, DatasetName("mine", "t"), facets={})

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        sent = await client.post("/api/v1/lineage", content=b'{"nope": 1}', headers=keeper)
        path = f"/api/v2/quarantine/{sent.json()['position'].replace(':', '%3A')}"
        assert (await client.get(path, headers=keeper)).json()["data"]["body"] == '{"nope": 1}'
        for body in theirs:
            asked = {"body": json.dumps(body)}
            assert (await client.post(f"{path}/replay", headers=keeper, json=asked)).status_code == 403, body
        assert (await client.post(f"{path}/replay", headers=keeper, json={"body": json.dumps(mine)})).status_code == 200

    made.run(work)
