"""Verdicts, approvals and waivers over HTTP: who may record them, for whom they count, and what each viewer is told."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from fixtures.both_logs import records_of
from fixtures.stores_of_events import applying
from security.conftest import House
from whence.model.access import Grant, Role
from whence.model.gate_records import approval_dataset
from whence.openlineage.authority.restrictions import person_uri
from whence.store.connection.engine import open_store
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant

REPOSITORY, COMMIT = "github.com/shop/pipeline", "f00d" * 10
PATH = f"/api/v2/gate/verdicts/{quote(REPOSITORY, safe='')}/{COMMIT}"
WAIVER = f"/api/v2/gate/waivers/{quote(REPOSITORY, safe='')}/C-1f3a9c42d0"
TODAY = datetime.now(UTC).date()
SECRET, PUBLIC = "dataset:vault:hr.salaries", "dataset:pg:shop.orders"


def verdict(**more: Any) -> dict[str, Any]:
    """A verdict on two changes: one of a public column, one of a secret dataset."""
    why = [{"rule": "certified", "text": "1 certified dataset is affected", "verdict": "approval needed"}]
    changes = [
        {
            "id": "C-1",
            "node": "datasetField:pg:shop.orders:total",
            "kind": "values",
            "affected": 2,
            "verdict": "approval needed",
            "before": "a * 2",
            "after": "hr.salaries.amount * 2",
            "file": "a.sql",
            "why": [{**why[0], "nodes": [SECRET]}],
            "waiver": {"reason": "hr.salaries moves", "owner": "bob", "expires": "2027-01-31"},
        },
        {
            "id": "C-2",
            "node": SECRET,
            "kind": "rows",
            "verdict": "approval needed",
            "affected": 1,
            "file": "hr/salaries.sql",
            "reason": "hr.salaries",
            "why": why,
        },
    ]
    affected = [
        {
            "node": SECRET,
            "kind": "dataset",
            "by": "by value",
            "distance": 1,
            "path": [PUBLIC, SECRET],
            "owners": ["hr"],
        },
        {
            "node": "dataset:pg:shop.daily",
            "kind": "certified dataset",
            "by": "by influence",
            "distance": 2,
            "path": [PUBLIC, SECRET, "dataset:pg:shop.daily"],
            "owners": ["shop"],
            "changes": ["C-1", "C-2"],
        },
    ]
    required = [{"owner": "hr", "people": ["user:hanna"], "changes": ["C-1", "C-2"]}]
    notices = ["not judged: hr/salaries.py is the code of no known job"]
    unjudged = ["hr/salaries.sql"]
    verdict = {"verdict": "approval needed", "commit": COMMIT, "graph_version": "1", "hidden": 1, "notices": notices}
    verdict["unjudged"] = unjudged
    return {**verdict, "changes": changes, "affected": affected, "required_approvals": required, **more}


Work = Callable[[httpx.AsyncClient], Awaitable[None]]


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    """An API with keys."""
    return house()


def run(shop: House, work: Work) -> None:
    """Ask the API, while its events come into the store as they arrive."""

    async def with_app(client: httpx.AsyncClient, _: FastAPI) -> None:
        engine = open_store(shop.settings.store_url)
        with applying(engine, shop.settings.data / "log"):
            await work(client)
        engine.dispose()

    shop.run(with_app)


def events_of(shop: House) -> list[dict[str, Any]]:
    """What is in the log."""
    return [json.loads(one.payload) for one in records_of(shop.settings.log)]


def test_only_transitions_are_written(shop: House) -> None:
    gate = shop.key("gate", Role.STEWARD, "github.com/shop/*")

    async def work(client: httpx.AsyncClient) -> None:
        for body, is_written in (
            (verdict(), True),
            (verdict(), False),
            (verdict(graph_version="2"), False),
            (verdict(notices=["password=hunter2"]), True),
            (verdict(notices=["password=hunter2"]), False),
            (verdict(verdict="note"), True),
            (verdict(), True),
        ):
            answer = await client.put(PATH, json=body, headers=gate)
            assert (answer.status_code, answer.json()["data"]["transition"]) == (200, is_written)
        listed = (await client.get("/api/v2/gate/verdicts", headers=gate)).json()["data"]
        assert [(one["verdict"], one["recorded_by"]) for one in listed] == [("approval needed", "key:gate")]

    run(shop, work)
    assert [one["producer"] for one in events_of(shop)] == [person_uri("key:gate")] * 4
    assert b"hunter2" not in b"".join(one.payload for one in records_of(shop.settings.log))
    assert {one["dataset"]["namespace"] for one in events_of(shop)} == {"whence.catalog"}


@pytest.mark.parametrize(
    ("role", "namespaces"), [(Role.READER, "*"), (Role.WRITER, "*"), (Role.STEWARD, "github.com/other/*")]
)
def test_nobody_records_approves_or_waives_without_the_role(shop: House, role: Role, namespaces: str) -> None:
    gate, other = shop.key("gate", Role.STEWARD), shop.key("other", role, namespaces)
    waiver = {"reason": "known", "expires": TODAY.isoformat()}

    async def work(client: httpx.AsyncClient) -> None:
        assert (await client.put(PATH, json=verdict(), headers=gate)).status_code == 200
        for answer in (
            await client.put(PATH, json=verdict(verdict="pass"), headers=other),
            await client.put(f"{PATH}/approval", headers=other),
            await client.delete(f"{PATH}/approval", headers=other),
            await client.put(WAIVER, json=waiver, headers=other),
            await client.delete(WAIVER, headers=other),
        ):
            assert answer.status_code == 403
        assert (await client.put(PATH, json=verdict())).status_code == 401

    run(shop, work)
    assert len(events_of(shop)) == 1


def test_an_approval_is_the_callers_own(shop: House) -> None:
    gate, bob, eve = (shop.key(name, Role.STEWARD, "github.com/shop/*") for name in ("gate", "bob", "eve"))
    shop.key("mallory", Role.STEWARD)

    async def work(client: httpx.AsyncClient) -> None:
        assert (await client.put(f"{PATH}/approval", headers=bob)).status_code == 404
        await client.put(PATH, json=verdict(), headers=gate)
        approved = (await client.put(f"{PATH}/approval", headers=bob)).json()["data"]
        assert [(one["person"], one["commit"]) for one in approved] == [("key:bob", COMMIT)]
        for producer in (person_uri("key:mallory"), person_uri("key:eve"), "https://example.com/tool"):
            event = {
                "eventTime": "2027-01-01T00:00:00Z",
                "producer": producer,
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
                "dataset": {
                    "namespace": "whence.catalog",
                    "name": approval_dataset(REPOSITORY, COMMIT, "key:mallory").name,
                    "facets": {"whence_gateApproval": {"_producer": "p", "_schemaURL": "https://example.com/s"}},
                },
            }
            sent = await client.post("/api/v1/lineage", json=event, headers=eve)
            assert sent.status_code == 201
            await client.get("/api/v2/progress?wait_for=head", headers=eve)
        listed = (await client.get(f"{PATH}/approvals", headers=bob)).json()["data"]
        assert [one["person"] for one in listed] == ["key:bob"]
        assert (await client.delete(f"{PATH}/approval", headers=bob)).json()["data"] == []
        assert (await client.get("/api/v2/gate/approvals", headers=bob)).json()["data"] == []

    run(shop, work)


def test_a_waiver_has_a_reason_an_owner_and_an_end(shop: House) -> None:
    bob, admin = shop.key("bob", Role.STEWARD, "github.com/shop/*"), shop.key("admin", Role.ADMIN)

    async def work(client: httpx.AsyncClient) -> None:
        for body in (
            {"reason": "known"},
            {"reason": "", "expires": TODAY.isoformat()},
            {"reason": "known", "expires": TODAY.isoformat(), "owner": "eve"},
            {"reason": "known", "expires": (TODAY - timedelta(days=2)).isoformat()},
            {"reason": "known", "expires": (TODAY + timedelta(days=400)).isoformat()},
        ):
            assert (await client.put(WAIVER, json=body, headers=bob)).status_code == 422
        body = {"reason": "known", "expires": (TODAY + timedelta(days=3)).isoformat()}
        (made,) = (await client.put(WAIVER, json=body, headers=bob)).json()["data"]
        assert (made["owner"], made["is_expired"]) == ("key:bob", False)
        assert made["reason"] == ""  # a free text, and the caller may not see everything
        asked = {"repository": REPOSITORY}
        assert (await client.get("/api/v2/gate/waivers", params=asked, headers=bob)).json()["data"] == [made]
        everything = (await client.get("/api/v2/gate/waivers", headers=admin)).json()["data"]
        assert everything == [{**made, "reason": "known"}]
        assert (await client.delete(WAIVER, headers=bob)).json()["data"] == []

    run(shop, work)


def test_a_viewer_is_told_how_many_nodes_are_hidden_and_no_name(shop: House) -> None:
    gate = shop.key("gate", Role.STEWARD)
    one, admin = shop.key("one", Role.READER, "github.com/*"), shop.key("admin", Role.ADMIN)
    with write_security(shop.engine) as connection:
        add_grant(connection, "key:one", Grant(Role.READER, "pg"))
    stranger = shop.key("stranger", Role.READER, "pg")

    async def work(client: httpx.AsyncClient) -> None:
        await client.put(PATH, json=verdict(), headers=gate)
        whole = (await client.get(PATH, headers=admin)).json()["data"]["verdict"]
        assert (len(whole["changes"]), len(whole["affected"]), whole["hidden"]) == (2, 2, 1)
        shown = (await client.get(PATH, headers=one)).json()["data"]["verdict"]
        (change,), (hit,), (required,) = shown["changes"], shown["affected"], shown["required_approvals"]
        assert (shown["hidden"], shown["hidden_changes"], shown["hidden_notices"]) == (2, 1, 2)
        assert change["why"][0]["nodes"] == ["(hidden)"]
        assert hit["path"] == [PUBLIC, "(hidden)", "dataset:pg:shop.daily"]
        assert (required["owner"], required["people"], required["changes"]) == (None, [], ["C-1"])
        for path in (PATH, "/api/v2/gate/verdicts", f"/api/v2/gate/verdicts?repository={REPOSITORY}"):
            text = (await client.get(path, headers=one)).text
            assert not [word for word in ("salaries", "vault", "hanna", '"hr') if word in text]
        (row,) = (await client.get("/api/v2/gate/verdicts", headers=one)).json()["data"]
        assert (row["changes"], row["affected"], row["hidden"]) == (2, 1, 2)
        assert (await client.get(PATH, headers=stranger)).status_code == 404
        assert (await client.get("/api/v2/gate/verdicts", headers=stranger)).json()["data"] == []

    run(shop, work)


def test_pages_of_verdicts_skip_repositories_that_are_hidden(shop: House) -> None:
    gate, one = shop.key("gate", Role.STEWARD), shop.key("one", Role.READER, "github.com/shop/*")

    async def work(client: httpx.AsyncClient) -> None:
        for number in range(12):
            owner = "shop" if number % 3 == 0 else "other"
            repository = quote(f"github.com/{owner}/pipeline", safe="")
            path = f"/api/v2/gate/verdicts/{repository}/{number:040x}"
            assert (await client.put(path, json=verdict(), headers=gate)).status_code == 200
        commits: list[int] = []
        cursor = ""
        while True:
            asked = {"limit": "2", "cursor": cursor}
            page = (await client.get("/api/v2/gate/verdicts", params=asked, headers=one)).json()
            commits += [int(row["commit"], 16) for row in page["data"]]
            cursor = page["page"]["next"]
            if not cursor:
                break
        assert commits == [9, 6, 3, 0]

    run(shop, work)


def test_an_open_server_has_nobody_to_approve(house: Callable[..., House]) -> None:
    open_shop = house(open=True)

    async def work(client: httpx.AsyncClient) -> None:
        client.headers["Host"] = "127.0.0.1"
        assert (await client.put(PATH, json=verdict())).status_code == 200
        assert (await client.put(f"{PATH}/approval")).status_code == 409
        waiver = {"reason": "known", "expires": TODAY.isoformat()}
        assert (await client.put(WAIVER, json=waiver)).status_code == 409

    run(open_shop, work)
