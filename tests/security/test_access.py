"""Every request: who asks, whether they may, and that it is written down."""

import asyncio
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from security.conftest import House, now
from whence.api.auth.permissions import find, needed_by, needing, needs
from whence.api.collector.fast_path import PATHS
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.errors import StoreError
from whence.govern.api_keys import generate_key, revoke_key, rotate_key
from whence.model.access import Action, Role
from whence.store.connection.engine import sqlite_url
from whence.store.security.database import write_security
from whence.store.security.grants import remove_grant

Make = Callable[..., House]
Headers = dict[str, str]

PATIENCE_SECONDS = 20


def event(namespace: str) -> dict[str, Any]:
    """An event of a job in a namespace."""
    return {
        "eventTime": "2026-03-01T10:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.com/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": namespace, "name": "job"},
        "inputs": [],
        "outputs": [],
    }


async def until(status: int, client: httpx.AsyncClient, path: str, headers: Headers) -> None:
    """Ask until the answer has this status: what changed in the database counts within a second."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (answer := await client.get(path, headers=headers)).status_code != status:
        assert time.monotonic() < deadline, answer.text
        await asyncio.sleep(0.05)


def served(app: FastAPI) -> list[tuple[str, str, Action | None]]:
    """Method, path and needed action of every served route, with something in the place of its parameters."""
    routes = needed_by(app.routes)
    return [
        (way, one.path.replace("{", "").replace("}", ""), one.action) for one in routes for way in sorted(one.methods)
    ]


def test_every_route_says_what_it_needs(house: Make) -> None:
    app = create_app(house().settings)
    found = served(app)
    assert len(found) > 10
    assert [(way, path) for way, path, action in found if action is None] == []
    public = {path for _, path, action in found if action is Action.PUBLIC and not path.startswith("/ui")}
    assert public == {"/"} | {
        "/health/live",
        "/health/ready",
        "/docs",
        "/openapi.json",
        "/redoc",
        "/api/v2/session",
        "/api/v2/session/ways",
        "/api/v2/evidence/keys",  # the public halves, for who verifies a pack
        "/api/v2/public-badges/badge/node",  # of what a setting makes public; else as if there were none
        "/api/v2/public-badges/badge/node/svg",
    }


def test_every_route_refuses_who_is_unknown_and_who_has_no_grant(house: Make) -> None:
    made = house()
    nobody = made.key("nobody")
    wrong: list[Headers] = [
        {},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {generate_key().text}"},
        {"Authorization": "Basic YTpi"},
        {"X-Forwarded-User": "admin", "X-DataHub-Actor": "admin", "Remote-User": "admin"},
        {"Cookie": "__Host-whence=guessed"},
    ]

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        for way, path, action in [*served(app), ("GET", "/no/such/path", Action.READ)]:
            if action is Action.PUBLIC:
                continue
            for headers in wrong:
                answer = await client.request(way, path, headers=headers, content=b"{")
                assert answer.status_code == 401, (way, path, headers)
                assert answer.headers["www-authenticate"] == "Bearer"
                assert answer.headers["content-type"] == "application/problem+json"
            answer = await client.request(way, path, headers=nobody, content=b"{")
            expected = (404,) if path == "/no/such/path" else (200, 204, 422) if action is Action.KNOWN else (403,)
            assert answer.status_code in expected, (way, path)

    made.run(work)
    assert {entry.action for entry in made.audited()} >= {"refused"}


def test_a_path_that_only_looks_public_is_not(house: Make) -> None:
    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        for path in (
            "/health/live/../../metrics",
            "/health/live;x/metrics",
            f"{client.base_url}//metrics",
            "/metrics/",
            "/health/live%2f..%2f..%2fmetrics",
        ):
            assert (await client.get(path)).status_code == 401, path

    house().run(work)


def test_a_route_that_does_not_say_what_it_needs_is_refused(house: Make) -> None:
    made = house()
    admin = made.key("admin", Role.ADMIN)

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        router = APIRouter()
        for path in ("/silent", "/said", "/given/{name}"):
            router.add_api_route(path, _route(path))
        app.include_router(router)
        assert (await client.get("/silent", headers=admin)).status_code == 403
        assert (await client.get("/said", headers=admin)).status_code == 200
        assert (await client.get("/given/x", headers=admin)).status_code == 403

    made.run(work)


def _route(path: str) -> Callable[..., Any]:
    async def answer() -> str:
        return path

    return needs(Action.ADMIN)(answer) if path == "/said" else answer


def test_a_router_can_say_it_for_its_routes() -> None:
    router = APIRouter(prefix="/p")
    router.add_api_route("/said", _route("/said"))
    router.add_api_route("/other/{name}", _route("/other"))
    app = FastAPI()
    app.include_router(needing(Action.READ, router))
    routes = needed_by(app.routes)
    assert [one.action for path in ("/p/said", "/p/other/x") if (one := find(routes, "GET", path))] == ["admin", "read"]
    assert find(routes, "GET", "/p/nowhere") is None


def test_roles_and_scopes_bound_what_a_key_may(house: Make) -> None:
    made = house()
    reader, writer = made.key("r", Role.READER), made.key("w", Role.WRITER)
    only_writes = made.key("o", Role.ADMIN, scopes=frozenset({Action.WRITE}))

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        for headers, read, write in ((reader, 200, 403), (writer, 200, 201), (only_writes, 403, 201)):
            assert (await client.get("/api/v2/status", headers=headers)).status_code == read
            for path in PATHS:
                assert (await client.post(path, headers=headers, json=event("n"))).status_code == write

    made.run(work)


@pytest.mark.parametrize("path", PATHS)
def test_events_go_into_granted_namespaces_only(house: Make, path: str) -> None:
    made = house()
    writer = made.key("airflow", Role.WRITER, "team-*")

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        assert (await client.post(path, headers=writer, json=event("team-a"))).status_code == 201
        refused = await client.post(path, headers=writer, json=event("finance"))
        assert (refused.status_code, refused.json()["position"]) == (403, None)
        dataset = event("team-a") | {"dataset": {"namespace": "finance", "name": "t"}}
        del dataset["job"], dataset["run"], dataset["eventType"]
        assert (await client.post(path, headers=writer, json=dataset)).status_code == 403
        bad = event("finance") | {"eventTime": "never"}
        assert (await client.post(path, headers=writer, json=bad)).status_code == 403
        batch = await client.post(f"{path}/batch", headers=writer, json=[event("finance"), event("team-b"), event("x")])
        assert [one["index"] for one in batch.json()["failed_events"]] == [0, 2]
        both = await client.post(f"{path}/batch", headers=writer, json=[event("finance"), dataset])
        reasons = [one["reason"].partition(": ")[0] for one in both.json()["failed_events"]]
        assert reasons == ["/job/namespace", "/dataset/namespace"]
        assert "Whence-Position" in batch.headers
        none = await client.post(f"{path}/batch", headers=writer, json=[event("finance")])
        assert none.json()["summary"]["successful"] == 0

    made.run(work)
    written = [entry for entry in made.audited() if entry.action == "write"]
    assert {(entry.who, entry.nodes, entry.count, entry.status) for entry in written} >= {
        ("key:airflow", ("team-a",), 1, 201),
        ("key:airflow", ("team-b",), 1, 200),
    }


def test_a_revoked_key_and_a_grant_taken_back_count_no_more(house: Make) -> None:
    made = house()
    gone, poor = made.key("gone", Role.READER), made.key("poor", Role.READER)

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        for headers in (gone, poor):
            assert (await client.get("/metrics", headers=headers)).status_code == 200
        with write_security(made.engine) as connection:
            revoke_key(connection, "gone", now())
            remove_grant(connection, "key:poor", "*")
        await until(401, client, "/metrics", gone)
        await until(403, client, "/metrics", poor)

    made.run(work)


def test_a_rotated_key_and_its_successor_both_work_in_the_overlap(house: Make) -> None:
    made = house()
    old = made.key("ci", Role.READER)
    with write_security(made.engine) as connection:
        new = {"Authorization": f"Bearer {rotate_key(connection, 'ci', now(), 3_600_000_000).text}"}

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        for headers in (old, new):
            assert (await client.get("/metrics", headers=headers)).status_code == 200
        with write_security(made.engine) as connection:
            rotate_key(connection, "ci", now(), 0)
        await until(401, client, "/metrics", old)
        await until(401, client, "/metrics", new)

    made.run(work)


def test_an_expired_key_is_refused(house: Make) -> None:
    made = house()
    headers = made.key("late", Role.ADMIN, expires_at=now() - 1)

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        assert (await client.get("/metrics", headers=headers)).status_code == 401

    made.run(work)


def test_a_key_with_the_id_of_another_is_refused(house: Make) -> None:
    made = house()
    good = made.key("ada", Role.ADMIN)["Authorization"]
    from whence.govern.api_keys import _checksum

    body = f"{good.removeprefix('Bearer ')[: len('whence_12345678')]}_{'0' * 48}"
    forged = {"Authorization": f"Bearer {body}{_checksum(body)}"}

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        for _ in range(2):
            assert (await client.get("/metrics", headers=forged)).status_code == 401
            assert (await client.get("/metrics", headers={"Authorization": good})).status_code == 200

    made.run(work)


def test_who_asked_what_is_in_the_audit_log_and_no_secret_is(house: Make) -> None:
    made = house()
    reader = made.key("ada", Role.READER)

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        await client.get("/api/v2/progress?node=dataset:n:t&password=hunter2", headers=reader)
        await client.get("/api/v2/nodes/dataset%3An%3Aa%252Fb/facts", headers=reader)
        await client.get("/api/v2/session", headers=reader)
        await client.get("/metrics", headers={"Authorization": "Bearer sesame"})

    made.run(work)
    entries = [(one.who, one.action, one.what, one.nodes, one.status) for one in made.audited()]
    assert entries == [
        ("key:ada", "read", "GET /api/v2/progress", ("dataset:n:t",), 200),
        ("key:ada", "read", "GET /api/v2/nodes/{node}/facts", ("dataset:n:a%2Fb",), 404),
        ("key:ada", "known", "GET /api/v2/session", (), 200),
        ("nobody", "refused", "GET /metrics", (), 401),
    ]
    kept = "".join(path.read_bytes().decode("latin-1") for path in made.settings.data.glob("security.db*"))
    for secret in ("hunter2", "sesame", reader["Authorization"].split("_")[2]):
        assert secret not in kept


def test_who_am_i(house: Make) -> None:
    made = house()
    reader = made.key("ada", Role.READER, "team-*", scopes=frozenset({Action.READ}))

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        me = (await client.get("/api/v2/session", headers=reader)).json()
        assert me == {
            "name": "key:ada",
            "role": "reader",
            "may": ["read"],
            "sees_all": False,
            "grants": [{"role": "reader", "namespaces": "team-*"}],
            "scopes": ["read"],
            "csrf": "",
        }
        for namespace, may in (("team-a", ["read"]), ("other", [])):
            answer = await client.get("/api/v2/session", params={"namespace": namespace}, headers=reader)
            assert answer.json()["may"] == may

    made.run(work)


def test_without_a_security_database_nothing_is_served(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "store.db")
    with pytest.raises(StoreError):
        create_app(Settings(data=tmp_path, store_url=url, security_url=sqlite_url(tmp_path / "none" / "s.db")))


def test_a_security_database_that_fails_is_not_ready(house: Make) -> None:
    made = house()

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        ready = (await client.get("/health/ready")).json()["checks"]["security"]
        assert ready == {"ok": True, "detail": "knows who may do what"}
        assert (await client.get("/health/ready", params={"of": "security"})).status_code == 200
        with write_security(made.engine) as connection:
            connection.exec_driver_sql("alter table access_state rename to lost")
        answer = await client.get("/health/ready", params={"of": "security"})
        assert answer.status_code == 503
        assert "does not answer" in answer.json()["checks"]["security"]["detail"]
        assert (
            await client.get("/metrics", headers={"Authorization": f"Bearer {generate_key().text}"})
        ).status_code == 503
        with write_security(made.engine) as connection:
            connection.exec_driver_sql("alter table lost rename to access_state")

    made.run(work)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8080"}, 200),
        ({"Host": "[::1]:8080", "Origin": "http://127.0.0.1:8080"}, 200),
        ({"Host": "attacker.example"}, 403),
        ({"Host": "localhost.attacker.example"}, 403),
        ({"Host": "127.0.0.1:8080", "Origin": "https://attacker.example"}, 403),
        ({"Host": "127.0.0.1:8080", "Origin": "null"}, 403),
    ],
)
def test_open_is_for_this_machine_only(tmp_path: Path, headers: Headers, status: int) -> None:
    app = create_app(Settings(data=tmp_path, store_url=sqlite_url(tmp_path / "store.db"), open=True))

    async def ask(peer: str) -> int:
        transport = httpx.ASGITransport(app, client=(peer, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
            return (await client.get("/api/v2/session", headers=headers)).status_code

    assert asyncio.run(ask("127.0.0.1")) == status
    assert asyncio.run(ask("10.1.2.3")) == 403
