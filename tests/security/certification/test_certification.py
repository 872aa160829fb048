"""Certification over HTTP: who may declare a rule, and what each viewer is told."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from fixtures.stores_of_events import applying
from govern.certification.shop_story import (
    DAY,
    DEV,
    PROD,
    REVENUE,
    STAGING,
    TESTED,
    TRIAL,
    fulfilled,
    raw,
    ruled,
    written,
)
from security.conftest import House, now
from whence.model.access import Action, Hiding, Role
from whence.model.names import DatasetName, FieldName
from whence.store.connection.engine import open_store
from whence.store.security.database import write_security
from whence.store.security.grants import add_hidings

Headers = dict[str, str]
Get = Callable[..., Awaitable[Any]]


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    return house()


def run(made: House, work: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
    """Work while events come into the store."""
    engine = open_store(made.settings.store_url)

    async def inside(client: httpx.AsyncClient, _: FastAPI) -> None:
        await work(client)

    with applying(engine, made.settings.data / "log"):
        made.run(inside)
    engine.dispose()


async def send(client: httpx.AsyncClient, headers: Headers, *bodies: bytes) -> list[int]:
    answers = [await client.post("/api/v1/lineage", content=body, headers=headers) for body in bodies]
    await client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=headers)
    return [one.status_code for one in answers]


async def get(client: httpx.AsyncClient, headers: Headers, path: str, **parameters: Any) -> Any:
    answer = await client.get(f"/api/v2{path}", params=parameters, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_node(found: Any) -> dict[str, str]:
    return {one["node"]: one["status"] for one in found["data"]["datasets"]}


def test_everybody_reads_the_same_status_and_nobody_a_hidden_name(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    reader, stranger = shop.key("reader", Role.READER, "postgres*"), shop.key("stranger", Role.READER, "kafka*")
    incomplete = [written(TESTED, at - DAY, 501, columns=False), written(TRIAL, at, 502, good=False)]

    async def work(client: httpx.AsyncClient) -> None:
        bodies = [*fulfilled(REVENUE, at), *incomplete, *ruled(at - 2 * DAY)]
        assert set(await send(client, ada, *bodies)) == {201}
        whole = await get(client, ada, "/certifications")
        assert by_node(whole) == {
            str(TRIAL): "not certified",
            str(REVENUE): "certified",
            str(TESTED): "not certified",
        }
        seen = await get(client, reader, "/certifications")
        assert by_node(seen) == by_node(whole)
        for text in (json.dumps(seen), json.dumps(await get(client, reader, "/certification-rules"))):
            assert "salaries" not in text
            assert "hr://" not in text
        (rule,) = (one for one in whole["data"]["datasets"] if one["node"] == str(TESTED))
        (lineage,) = (one for one in rule["rules"][0]["requirements"] if one["requirement"] == "lineage")
        assert lineage["columns"] == [str(FieldName(TESTED, "sum"))]
        # Who may see nothing of it reads nothing, and is told nothing else than of what does not exist.
        assert by_node(await get(client, stranger, "/certifications")) == {}
        assert (await get(client, stranger, "/certification-rules"))["data"] == []
        hidden, missing = [
            await client.get(f"/api/v2/nodes/{quote(one, safe='')}/certification", headers=stranger)
            for one in (str(raw(REVENUE)), f"dataset:{PROD}:nosuchname")
        ]
        assert hidden.status_code == missing.status_code == 404
        assert by_node(await get(client, ada, "/certifications", as_of="4 days ago")) == {}
        assert by_node(await get(client, ada, "/certifications", status="certified")) == {str(REVENUE): "certified"}
        assert by_node(await get(client, ada, "/certifications", namespace=DEV)) == {str(TRIAL): "not certified"}

    run(shop, work)


def test_a_badge_of_a_hidden_dataset_is_none_of_a_missing_one(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    stranger, reader = shop.key("stranger", Role.READER, "kafka*"), shop.key("reader", Role.READER, "postgres*")

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, *fulfilled(REVENUE, at), *ruled(at - DAY))
        for badge, message in (("certification", "certified"), ("lineage", "100%"), ("objectives", "1 of 1 hold")):
            for headers, name in ((reader, REVENUE), (stranger, REVENUE), (stranger, DatasetName(PROD, "missing"))):
                path = f"/api/v2/badges/{badge}/{quote(str(name), safe='')}"
                document, picture = [await client.get(f"{path}{end}", headers=headers) for end in ("", "/svg")]
                assert document.headers["cache-control"] == picture.headers["cache-control"] == "private, no-cache"
                if headers is stranger:
                    assert document.status_code == picture.status_code == 404
                    assert document.json()["candidates"] == picture.json()["candidates"] == []
                    continue
                assert document.json()["message"] == message, badge
                assert picture.headers["content-type"].startswith("image/svg+xml")
                assert picture.headers["content-security-policy"] == "default-src 'none'"
                assert message in picture.text
                assert "shop." not in picture.text
        nameless = await client.get(f"/api/v2/badges/certification/{quote(str(REVENUE), safe='')}/svg")
        assert nameless.status_code == 401

    run(shop, work)


def test_a_public_badge_is_read_without_a_key_and_nothing_else(shop: House) -> None:
    """Off by default. What is not public is answered as what is not there, but for the name that was typed."""
    ada, at = shop.key("ada", Role.ADMIN), now()

    def path(name: str, kind: str = "certification", end: str = "") -> str:
        return f"/api/v2/public-badges/{kind}/{quote(name, safe='')}{end}"

    missing = str(DatasetName(PROD, "missing"))

    async def off(client: httpx.AsyncClient) -> None:
        await send(client, ada, *fulfilled(REVENUE, at), written(TESTED, at, 900), *ruled(at - DAY))
        for name in (str(REVENUE), missing, "revenue"):
            assert (await client.get(path(name))).status_code == 404

    run(shop, off)
    made = replace(shop, settings=replace(shop.settings, public_badges=(PROD,)))

    async def on(client: httpx.AsyncClient) -> None:
        for kind, message in (("certification", "certified"), ("lineage", "100%"), ("objectives", "1 of 1 hold")):
            document, picture = [await client.get(path(str(REVENUE), kind, end)) for end in ("", "/svg")]
            assert (document.status_code, document.json()["message"]) == (200, message)
            assert message in picture.text
            assert "shop." not in picture.text
        hidden = [str(TESTED), str(raw(REVENUE)), str(DatasetName(STAGING, "missing")), missing, "shop.revenue", "x"]
        texts = set[str]()
        for name, end in ((name, end) for name in hidden for end in ("", "/svg")):
            answer = await client.get(path(name, end=end))
            assert answer.status_code == 404
            answered = {key: str(value).replace(name, "") for key, value in answer.json().items()}
            texts.add(json.dumps([answered, answer.headers["content-type"]]))
        assert len(texts) == 1
        assert (await client.get("/api/v2/certifications")).status_code == 401

    run(made, on)


def test_pages_have_every_dataset_once(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()

    async def work(client: httpx.AsyncClient) -> None:
        await send(
            client, ada, *(written(one, at, 600 + n) for n, one in enumerate((REVENUE, TESTED, TRIAL))), *ruled(at)
        )
        found, cursor = list[str](), ""
        while True:
            page = await get(client, ada, "/certifications", limit=1, cursor=cursor)
            found += by_node(page)
            cursor = page["page"]["next"]
            if not cursor:
                break
        assert sorted(found) == sorted(map(str, (REVENUE, TESTED, TRIAL)))

    run(shop, work)


def test_a_rule_takes_a_steward_of_its_namespace(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    writer, steward = shop.key("eve", Role.WRITER), shop.key("bob", Role.STEWARD, f"{PROD}*")
    unscoped = shop.key("bot", Role.STEWARD, scopes=frozenset({Action.READ, Action.WRITE}))

    async def work(client: httpx.AsyncClient) -> None:
        rules = list(ruled(at))
        assert await send(client, writer, *rules) == [403] * 3
        assert await send(client, unscoped, *rules) == [403] * 3
        assert sorted(await send(client, steward, *rules)) == [201, 403, 403]
        found = (await get(client, ada, "/certification-rules"))["data"]
        assert [one["namespace"] for one in found] == [PROD]

    run(shop, work)


def test_a_hidden_column_is_not_named(shop: House) -> None:
    ada, at, reader = shop.key("ada", Role.ADMIN), now(), shop.key("reader", Role.READER)
    with write_security(shop.engine) as connection:
        add_hidings(connection, "*", [Hiding("*", "*", "sum")])

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, written(REVENUE, at, 700, columns=False), *ruled(at))
        shown = [json.dumps(await get(client, key, "/certifications")) for key in (ada, reader)]
        assert [":sum" in text for text in shown] == [True, False]

    run(shop, work)
