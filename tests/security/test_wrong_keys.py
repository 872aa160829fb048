"""Wrong keys cost next to nothing, so a flood of them delays nobody; a database that is away stops no event."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select, update

from fixtures.migrated_stores import open_migrated
from security.conftest import House
from security.test_access import event, until
from services.postgres import PostgresProcess, new_database
from whence.api.auth import credentials
from whence.api.settings import Settings
from whence.govern.api_keys import Key, _checksum, is_hash_of, parse_key
from whence.model.access import Role
from whence.store.connection.engine import sqlite_url
from whence.store.security.api_key_rows import StoredKey
from whence.store.security.database import open_security, write_security
from whence.store.security.tables import key

Make = Callable[..., House]
WRONG = 300


def forged(headers: dict[str, str], number: int) -> dict[str, str]:
    """A key with the id of another and a checksum that is right."""
    known = parse_key(headers["Authorization"].removeprefix("Bearer "))
    assert known is not None
    body = f"whence_{known.id}_{number:048x}"
    return {"Authorization": f"Bearer {body}{_checksum(body)}"}


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys that Argon2 was asked about, in order."""
    asked: list[str] = []

    def count(stored: StoredKey, one: Key) -> bool:
        asked.append(one.text)
        return is_hash_of(stored, one)

    monkeypatch.setattr(credentials, "is_hash_of", count)
    return asked


def test_a_wrong_key_is_told_without_argon2(house: Make, verified: list[str]) -> None:
    made = house()
    admin, reader = made.key("admin", Role.ADMIN), made.key("reader", Role.READER)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        wrong = [client.get("/metrics", headers=forged(admin, number)) for number in range(WRONG)]
        right = [client.get("/metrics", headers=one) for one in (admin, reader)]
        answers = await asyncio.gather(*wrong, *right)
        assert Counter(one.status_code for one in answers) == {401: WRONG, 200: 2}
        signed = await client.post("/api/v2/session", json={"key": forged(admin, 7)["Authorization"][7:]})
        assert signed.status_code == 401

    made.run(work)
    assert sorted(verified) == sorted(one["Authorization"].removeprefix("Bearer ") for one in (admin, reader))


def test_a_flood_of_wrong_keys_is_answered_late(house: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "_WRONG_PER_SECOND", 50)
    made = house()
    admin = made.key("admin", Role.ADMIN)

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        wrong = [client.get("/metrics", headers=forged(admin, number)) for number in range(100)]
        assert {one.status_code for one in await asyncio.gather(*wrong)} == {401}
        assert clock() - began >= 1

    made.run(work)


def test_guesses_at_a_key_without_a_fingerprint_wait_apart_and_few(house: Make, verified: list[str]) -> None:
    made = house()
    old, new = made.key("old", Role.READER), made.key("new", Role.READER)
    with write_security(made.engine) as connection:
        connection.execute(update(key).where(key.c.name == "old").values(fingerprint=None))

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        wrong = [client.get("/metrics", headers=forged(old, number)) for number in range(WRONG)]
        *answers, right = await asyncio.gather(*wrong, client.get("/metrics", headers=new))
        statuses = Counter(one.status_code for one in answers)
        assert right.status_code == 200
        assert set(statuses) == {401, 503}
        assert statuses[401] < WRONG / 2
        refused = next(one for one in answers if one.status_code == 503)
        assert int(refused.headers["retry-after"]) > 0
        await until(200, client, "/metrics", old)

    made.run(work)
    with write_security(made.engine) as connection:
        assert None not in connection.execute(select(key.c.fingerprint)).scalars().all()


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[PostgresProcess]:
    server = PostgresProcess(tmp_path).start()
    yield server
    server.stop()


def test_events_are_taken_while_the_security_database_is_away(postgres: PostgresProcess, tmp_path: Path) -> None:
    with new_database(postgres.url) as url:
        _check_away(postgres, url, tmp_path)


def _check_away(postgres: PostgresProcess, url: str, tmp_path: Path) -> None:
    store_url = sqlite_url(tmp_path / "store.db")
    store = open_migrated(store_url)
    engine = open_security(url)
    settings = Settings(data=tmp_path, store_url=store_url, security_url=url)
    made = House(settings, engine)
    writer, admin = made.key("airflow", Role.WRITER, "team-*"), made.key("admin", Role.ADMIN)

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        async def send(namespace: str = "team-a") -> int:
            return (await client.post("/api/v1/lineage", headers=writer, json=event(namespace))).status_code

        assert await send() == 201
        assert (await client.get("/metrics", headers=admin)).status_code == 200
        postgres.stop()
        await until(503, client, "/metrics", admin)
        assert [await send() for _ in range(5)] == [201] * 5
        assert await send("finance") == 403, "the last known grants count"
        assert (
            await client.post("/api/v1/lineage", headers=forged(writer, 1), json=event("team-a"))
        ).status_code == 401
        postgres.start()
        await until(200, client, "/metrics", admin)

    async def too_long(client: httpx.AsyncClient, app: FastAPI) -> None:
        assert (await client.get("/metrics", headers=admin)).status_code == 200
        postgres.stop()
        await until(503, client, "/metrics", admin)
        answer = await client.post("/api/v1/lineage", headers=writer, json=event("team-a"))
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        postgres.start()

    made.run(work)
    written = [one for one in made.audited() if (one.action, one.status) == ("write", 201)]
    assert sum(one.count for one in written) == 6, "what was written meanwhile is in the audit log"
    short = Settings(data=tmp_path, store_url=store_url, security_url=url, policy_grace_seconds=0)
    House(short, engine).run(too_long)
    engine.dispose()
    store.dispose()
