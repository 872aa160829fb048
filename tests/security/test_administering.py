"""Keys, roles and the audit log over HTTP: for administrators, recorded, and nobody gives what is not theirs."""

import csv
import io
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import update

from security.conftest import House, now
from security.test_access import until
from whence.govern.api_keys import parse_key
from whence.model.access import Action, Role
from whence.store.security.audit import Entry, append_entries
from whence.store.security.database import write_security
from whence.store.security.tables import audit

Make = Callable[..., House]
Client = httpx.AsyncClient


def test_a_key_is_made_used_rotated_and_revoked(house: Make) -> None:
    made = house()
    admin = made.key("root", Role.ADMIN)

    async def work(client: Client, _: FastAPI) -> None:
        asked = {"name": "ci/main", "role": "writer", "namespaces": "air*", "scopes": ["write"], "expires_in": "90d"}
        answer = await client.post("/api/v2/keys", json=asked, headers=admin)
        assert answer.status_code == 201, answer.text
        new = answer.json()["data"]
        key = parse_key(new["key"])
        assert key is not None
        assert key.id == new["id"]
        assert (await client.post("/api/v2/keys", json=asked, headers=admin)).status_code == 409
        mine = {"Authorization": f"Bearer {new['key']}"}
        asked_at_once = await client.get("/api/v2/session", headers=mine)
        assert asked_at_once.status_code == 200, "this process made the key, so it knows it"
        me = asked_at_once.json()
        assert (me["name"], me["scopes"]) == ("key:ci/main", ["write"])
        assert me["grants"] == [{"role": "writer", "namespaces": "air*"}]
        rotated = await client.post("/api/v2/keys/ci%2Fmain/rotation", json={"overlap": "0s"}, headers=admin)
        assert rotated.status_code == 201
        answer = await client.get("/api/v2/keys", headers=admin)
        states = {one["id"]: one["state"] for one in answer.json()["data"] if one["name"] == "ci/main"}
        assert states == {new["id"]: "expired", rotated.json()["data"]["id"]: "live"}
        assert new["key"].split("_")[2] not in answer.text
        gone = await client.delete("/api/v2/keys/ci%2Fmain", headers=admin)
        assert [one["state"] for one in gone.json()["data"]] == ["revoked"]
        assert (await client.get("/api/v2/session", headers=mine)).status_code == 401
        assert (await client.delete("/api/v2/keys/ci%2Fmain", headers=admin)).status_code == 404
        assert (await client.post("/api/v2/keys/ci%2Fmain/rotation", headers=admin)).status_code == 404

    made.run(work)
    kept = [(one.action, one.what, one.nodes, one.status) for one in made.audited() if one.action == "keys"]
    assert kept == [
        ("keys", "POST /api/v2/keys", ("key:ci/main",), 201),
        ("keys", "POST /api/v2/keys/{name}/rotation", ("key:ci/main",), 201),
        ("keys", "DELETE /api/v2/keys/{key}", ("ci/main",), 200),
    ]


def test_roles_are_given_listed_and_taken_back(house: Make) -> None:
    made = house()
    admin, ada = made.key("root", Role.ADMIN), made.key("ada")

    async def work(client: Client, _: FastAPI) -> None:
        given = {"subject": "key:ada", "role": "reader", "namespaces": "*"}
        assert (await client.put("/api/v2/grants", json=given, headers=admin)).status_code == 200
        await until(200, client, "/metrics", ada)
        hidden = {"subject": "*", "namespaces": "*", "datasets": "*", "fields": "*ssn*"}
        assert (await client.put("/api/v2/hidings", json=hidden, headers=admin)).status_code == 200
        listed = (await client.get("/api/v2/grants", headers=admin)).json()["data"]
        assert listed["hidings"] == [hidden]
        assert {(one["subject"], one["role"]) for one in listed["grants"]} == {
            ("key:root", "admin"),
            ("key:ada", "reader"),
        }
        taken = {"subject": "key:ada", "namespaces": "*"}
        for status in (204, 404):
            assert (await client.delete("/api/v2/grants", params=taken, headers=admin)).status_code == status
            assert (await client.delete("/api/v2/hidings", params=hidden, headers=admin)).status_code == status
        await until(403, client, "/metrics", ada)

    made.run(work)
    changes = [(one.what, one.nodes) for one in made.audited() if one.action == "access"]
    assert changes == [
        ("PUT /api/v2/grants", ("key:ada", "reader in *")),
        ("PUT /api/v2/hidings", ("*", "fields *ssn* of * in *")),
        ("DELETE /api/v2/grants", ("key:ada", "*")),
        ("DELETE /api/v2/hidings", ("*", "fields *ssn* of * in *")),
    ]


def test_nobody_gives_what_is_not_theirs(house: Make) -> None:
    made = house()
    some, scoped = made.key("some", Role.ADMIN, "team-*"), made.key("s", Role.ADMIN, scopes=frozenset({Action.READ}))
    steward = made.key("steward", Role.STEWARD)

    async def work(client: Client, _: FastAPI) -> None:
        async def give(headers: dict[str, str], subject: str, namespaces: str) -> int:
            body = {"subject": subject, "role": "admin", "namespaces": namespaces}
            return (await client.put("/api/v2/grants", json=body, headers=headers)).status_code

        for namespaces in ("*", "team*", "t*-x", "other", "*team-*"):
            assert await give(some, "key:some", namespaces) == 403, namespaces
        for namespaces in ("team-a", "team-*", "team-*x*"):
            assert await give(some, "key:friend", namespaces) == 200, namespaces
        assert await give(scoped, "key:s", "*") == await give(steward, "key:steward", "*") == 403
        for path in ("keys", "audit", "audit/verification"):
            for headers in (some, scoped, steward):
                assert (await client.get(f"/api/v2/{path}", headers=headers)).status_code == 403
        assert (await client.post("/api/v2/keys", json={"name": "x", "role": "admin"}, headers=some)).status_code == 403
        assert (await client.post("/api/v2/keys/s/rotation", headers=some)).status_code == 403
        listed = (await client.get("/api/v2/grants", headers=some)).json()["data"]["grants"]
        assert {one["namespaces"] for one in listed} == {"team-*", "team-a", "team-*x*"}

    made.run(work)


def test_the_last_administrator_stays(house: Make) -> None:
    made = house()
    admin = made.key("root", Role.ADMIN)

    async def work(client: Client, _: FastAPI) -> None:
        mine = {"subject": "key:root", "namespaces": "*"}
        assert (await client.delete("/api/v2/grants", params=mine, headers=admin)).status_code == 409
        assert (await client.put("/api/v2/grants", json=mine | {"role": "reader"}, headers=admin)).status_code == 409
        other = {"subject": "user:ada", "role": "admin", "namespaces": "*"}
        assert (await client.put("/api/v2/grants", json=other, headers=admin)).status_code == 200
        assert (await client.delete("/api/v2/grants", params=mine, headers=admin)).status_code == 204

    made.run(work)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("keys", {"name": ""}),
        ("keys", {"name": "a\nb"}),
        ("keys", {"name": "a", "role": "owner"}),
        ("keys", {"name": "a", "scopes": []}),
        ("keys", {"name": "a", "expires_in": "soon"}),
        ("keys", {"name": "a", "expires_in": "4000000d"}),
        ("keys", {"name": "a", "expires_in": "9" * 39 + "w"}),
        ("keys", {"name": "a", "secret": "mine"}),
        ("grants", {"subject": "ada", "role": "reader"}),
        ("grants", {"subject": "role:x", "role": "reader"}),
        ("grants", {"subject": "*", "role": "reader"}),
    ],
)
def test_what_is_not_so_written_is_refused_and_changes_nothing(house: Make, path: str, body: dict[str, Any]) -> None:
    made = house()
    admin = made.key("root", Role.ADMIN)

    async def work(client: Client, _: FastAPI) -> None:
        answer = await client.request("POST" if path == "keys" else "PUT", f"/api/v2/{path}", json=body, headers=admin)
        assert answer.status_code == 422, answer.text
        assert answer.headers["content-type"] == "application/problem+json"

    made.run(work)
    assert [one for one in made.audited() if one.action in ("keys", "access")] == []


def entries(count: int) -> list[Entry]:
    """Of several people, every third refused, a second apart."""
    return [
        Entry(
            at=1_795_000_000_000_000 + number * 1_000_000,
            who=f"key:{'ab'[number % 2]}_{number % 5}",
            action="read" if number % 3 else "refused",
            what="GET /api/v2/lineage",
            nodes=(f"dataset:n:=t{number}",),
            status=200 if number % 3 else 403,
        )
        for number in range(count)
    ]


def test_the_log_is_filtered_paged_and_exported(house: Make) -> None:
    made = house()
    admin, written = made.key("root", Role.ADMIN), entries(60)
    with write_security(made.engine) as connection:
        append_entries(connection, written)

    async def work(client: Client, _: FastAPI) -> None:
        async def listed(**query: Any) -> tuple[list[dict[str, Any]], Any]:
            answer = await client.get("/api/v2/audit", params=query, headers=admin)
            assert answer.status_code == 200, answer.text
            return answer.json()["data"], answer.json()["page"]["next"]

        expected = [
            number for number, one in enumerate(written, 1) if one.who.startswith("key:a_") and one.status == 403
        ]
        found, cursor = await listed(who="*:A_*", refused="true", limit=4)
        rest, last = await listed(who="*:A_*", refused="true", limit=1_000, cursor=cursor)
        assert [one["number"] for one in found + rest] == expected[::-1]
        assert (len(found), last) == (4, None)
        assert {one["who"] for one in (await listed(who="key:b_1"))[0]} == {"key:b_1"}
        assert (await listed(who="key:b%"))[0] == []
        (one,) = (await listed(node="dataset:n:=t7"))[0]
        assert (one["number"], one["nodes"], one["at"]) == (8, ["dataset:n:=t7"], "2026-11-18T11:06:47Z")
        timed = (await listed(after="2026-11-18T11:06:47Z", before="2026-11-18T11:06:50Z"))[0]
        assert [one["number"] for one in timed] == [10, 9, 8]
        assert (await client.get("/api/v2/audit", params={"after": "soon"}, headers=admin)).status_code == 400
        assert (await client.get("/api/v2/audit", params={"cursor": str(1 << 63)}, headers=admin)).status_code == 422
        text = (await client.get("/api/v2/audit", params={"format": "csv", "refused": "true"}, headers=admin)).text
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        assert [int(one["number"]) for one in rows] == list(range(58, 0, -3))
        assert rows[0]["nodes"] == '["dataset:n:=t57"]'

    made.run(work)
    assert [one.count for one in made.audited() if one.action == "export"] == [20]


def test_a_log_that_was_changed_says_where(house: Make) -> None:
    made = house()
    admin = made.key("root", Role.ADMIN)
    with write_security(made.engine) as connection:
        head = append_entries(connection, entries(5))

    async def work(client: Client, _: FastAPI) -> None:
        async def verified() -> dict[str, Any]:
            found: dict[str, Any] = (await client.get("/api/v2/audit/verification", headers=admin)).json()["data"]
            return found

        before = await verified()
        assert before == {"intact": True, "wrong": None, "problem": None, "rows": 5, "head": head.hash}
        with write_security(made.engine) as connection:
            connection.execute(update(audit).where(audit.c.number == 3).values(who="key:nobody", at=now()))
        after = await verified()
        assert (after["intact"], after["wrong"]) == (False, 3)
        with write_security(made.engine) as connection:
            one = entries(5)[2]
            connection.execute(update(audit).where(audit.c.number == 3).values(who=one.who, at=one.at))

    made.run(work)
