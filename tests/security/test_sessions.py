"""Sessions begun with an API key: what the cookie is worth, for how long, and for whom."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from security.conftest import House, now
from security.test_access import until
from whence.api.auth.credentials import COOKIE
from whence.govern.api_keys import generate_key, list_live_keys, revoke_key
from whence.model.access import Action, Role
from whence.store.security.api_key_rows import expire_keys
from whence.store.security.database import write_security

Make = Callable[..., House]
SESSION = "/api/v2/session"


def secret(headers: dict[str, str]) -> str:
    return headers["Authorization"].removeprefix("Bearer ")


async def sign_in(client: httpx.AsyncClient, key: dict[str, str]) -> tuple[dict[str, str], dict[str, Any]]:
    """The cookie as a header, and who the answer says one is."""
    client.cookies.clear()
    answer = await client.post(SESSION, json={"key": secret(key)})
    assert answer.status_code == 201, answer.text
    cookie = client.cookies[COOKIE]
    client.cookies.clear()
    return {"Cookie": f"{COOKIE}={cookie}"}, answer.json()


def test_a_key_signs_in_and_the_session_may_what_the_key_may(house: Make) -> None:
    made = house()
    key = made.key("ada", Role.STEWARD, "team-*", scopes=frozenset({Action.READ}))

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        answer = await client.post(SESSION, json={"key": f" {secret(key)}\n"})
        attributes = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}
        assert {"secure", "httponly", "samesite=lax", "path=/"} <= attributes
        assert secret(key) not in answer.text + answer.headers["set-cookie"]
        client.cookies.clear()
        cookie, me = await sign_in(client, key)
        assert (me["name"], me["role"], me["may"]) == ("key:ada", "steward", ["read"])
        assert (await client.get(SESSION, headers=cookie)).json() == me
        assert (await client.get("/metrics", headers=cookie)).status_code == 200
        ways = (await client.get(f"{SESSION}/ways", headers=cookie)).json()
        assert ways == {"open": False, "keys": True, "provider": "", "me": me}
        assert (await client.get(f"{SESSION}/ways")).json()["me"] is None

    made.run(work)
    assert [(one.who, one.status) for one in made.audited() if one.action == "login"] == [("key:ada", 201)] * 2


def test_signing_out_needs_the_csrf_value_and_ends_the_session_for_all(house: Make) -> None:
    made = house()
    key = made.key("ada", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        (one, me), (other, _me) = await sign_in(client, key), await sign_in(client, key)
        for wrong in ({}, {"X-Whence-CSRF": "guessed"}):
            assert (await client.delete(SESSION, headers=one | wrong)).status_code == 403
        assert (await client.delete(SESSION, headers=one | {"X-Whence-CSRF": me["csrf"]})).status_code == 204
        assert (await client.get("/metrics", headers=one)).status_code == 401
        assert (await client.get("/metrics", headers=other)).status_code == 200

    made.run(work)


def test_a_session_ends_with_its_key(house: Make) -> None:
    made = house()
    revoked, expiring = made.key("ada", Role.READER), made.key("bob", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        cookies = [(await sign_in(client, one))[0] for one in (revoked, expiring)]
        with write_security(made.engine) as connection:
            revoke_key(connection, "ada", now())
            expire_keys(connection, [one.id for one in list_live_keys(connection, "bob", now())], now())
        for cookie in cookies:
            await until(401, client, "/metrics", cookie)

    made.run(work)


UNKNOWN = {
    "empty": "",
    "word": "sesame",
    "unknown": generate_key().text,
    "cut": generate_key().text[:-1],
    "not ASCII": "é" * 60,
}


@pytest.mark.parametrize("key", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_no_key_signs_nobody_in_and_is_written_down(house: Make, key: str) -> None:
    made = house()
    made.key("ada", Role.ADMIN)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        answer = await client.post(SESSION, json={"key": key})
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert "set-cookie" not in answer.headers

    made.run(work)
    (entry,) = made.audited()
    assert (entry.who, entry.action, entry.status) == ("nobody", "login", 401)


def test_a_page_of_another_site_signs_nobody_in(house: Make) -> None:
    made = house()
    key = secret(made.key("ada", Role.ADMIN))

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for site in ("cross-site", "same-site"):
            answer = await client.post(SESSION, json={"key": key}, headers={"Sec-Fetch-Site": site})
            assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
        for form in (
            {"content": f'{{"key": "{key}"}}', "headers": {"Content-Type": "text/plain"}},
            {"data": {"key": key}},
        ):
            assert (await client.post(SESSION, **form)).status_code == 422
        answer = await client.post(SESSION, json={"key": key}, headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 201

    made.run(work)


def test_where_whence_runs_open_nobody_signs_in(house: Make) -> None:
    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        ways = (await client.get("http://localhost/api/v2/session/ways")).json()
        assert (ways["open"], ways["keys"], ways["me"]["may"]) == (True, False, ["admin", "read", "steward", "write"])
        assert (
            await client.post("http://localhost/api/v2/session", json={"key": generate_key().text})
        ).status_code == 409
        for path in ("keys", "grants", "audit", "audit/verification", "sessions"):
            assert (await client.get(f"http://localhost/api/v2/{path}")).status_code == 409

    house(open=True).run(work)


def test_own_sessions_are_listed_and_ended_one_by_one(house: Make) -> None:
    made = house()
    ada, bob = made.key("ada", Role.READER), made.key("bob", Role.READER)
    sessions = "/api/v2/sessions"

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        (one, me), (other, _me), (his, _me) = [await sign_in(client, key) for key in (ada, ada, bob)]
        answer = await client.get(sessions, headers=one)
        assert answer.headers["cache-control"] == "no-store"
        listed = answer.json()["data"]
        assert sorted(row["current"] for row in listed) == [False, True]
        assert {row["key"] for row in listed} == {secret(ada).split("_")[1]}
        assert [row["current"] for row in (await client.get(sessions, headers=ada)).json()["data"]] == [False, False]
        (foreign,) = (await client.get(sessions, headers=his)).json()["data"]
        wanted = next(row["id"] for row in listed if not row["current"])
        token = one | {"X-Whence-CSRF": me["csrf"]}
        assert (await client.delete(f"{sessions}/{wanted}", headers=one)).status_code == 403
        for id_, status in ((foreign["id"], 404), ("0" * 16, 404), ("%", 422), (wanted, 204), (wanted, 404)):
            assert (await client.delete(f"{sessions}/{id_}", headers=token)).status_code == status, id_
        assert (await client.get("/metrics", headers=other)).status_code == 401
        assert (await client.get("/metrics", headers=his)).status_code == 200
        assert [row["current"] for row in (await client.get(sessions, headers=one)).json()["data"]] == [True]

    made.run(work)


def test_a_session_whose_key_was_revoked_is_in_no_list(house: Make) -> None:
    made = house()
    old = made.key("ada", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        await sign_in(client, old)
        with write_security(made.engine) as connection:
            revoke_key(connection, "ada", now())
        fresh = made.key("ada", Role.READER)
        await until(200, client, "/metrics", fresh)
        assert (await client.get("/api/v2/sessions", headers=fresh)).json() == {"data": []}

    made.run(work)
