"""Lineage baselines over HTTP: who may accept one, what each viewer is told, and the incident of what differs."""

from typing import Any
from urllib.parse import quote

import httpx
from fastapi import FastAPI

from fixtures.stores_of_events import applying
from govern.certification.shop_story import DAY, REVENUE, raw
from govern.lineage_baselines.lineage_story import ran
from security.certification.test_certification import get, run, send, shop
from security.conftest import House, now
from whence.model.access import Role
from whence.model.names import DatasetName, FieldName
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store

__all__ = ["shop"]

HR, BONUS = raw(REVENUE), DatasetName(raw(REVENUE).namespace, "bonuses")
PATH = f"/nodes/{quote(str(REVENUE), safe='')}/lineage-baseline"
SECRET = ("hr://", "salaries", "bonuses", "SUM(", "MAX(")


def test_a_steward_accepts_and_everybody_reads_what_they_may_see(shop: House) -> None:
    ada, writer, at = shop.key("ada", Role.ADMIN), shop.key("eve", Role.WRITER), now()
    steward, reader = shop.key("bob", Role.STEWARD, "postgres*"), shop.key("reader", Role.READER, "postgres*")
    stranger = shop.key("stranger", Role.STEWARD, "kafka*")

    async def accept(client: httpx.AsyncClient, key: dict[str, str], **members: Any) -> httpx.Response:
        body = {"reason": "the council said so", **members}
        done = await client.post(f"/api/v2{PATH}", json=body, headers=key)
        await client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=ada)
        return done

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, ran(1, at - DAY, REVENUE, ("sum", HR, "amount", "SUM(amount)")))
        assert (await get(client, ada, PATH))["data"]["state"] == "no baseline"
        assert (await accept(client, ada, end=True)).status_code == 409
        refused = [await accept(client, ada, reason=""), await accept(client, ada, position="1")]
        assert {one.status_code for one in refused} <= {400, 422}
        # A writer is told that the role is missing; who may not see the dataset, that there is none.
        assert [(await accept(client, key)).status_code for key in (writer, stranger)] == [403, 404]
        accepted = await accept(client, steward)
        assert accepted.status_code in (200, 202), accepted.text
        before = now()
        await send(client, ada, ran(2, before + 1, REVENUE, ("sum", BONUS, "amount", "MAX(amount)")))

        whole, seen = [(await get(client, key, PATH))["data"] for key in (ada, reader)]
        facts = ("drifted", 4, "key:bob", 2)
        for one in (whole, seen):
            assert (one["state"], one["differing"], one["accepted_by"], one["edges"]) == facts
        named = {(one["change"], one["source"], tuple(one["after"])) for one in whole["changes"]}
        assert named == {
            ("added", str(BONUS), ("input",)),
            ("added", str(FieldName(BONUS, "amount")), ("DIRECT TRANSFORMATION: MAX(amount)",)),
            ("removed", str(HR), ()),
            ("removed", str(FieldName(HR, "amount")), ()),
        }
        assert whole["reason"] == "the council said so"
        assert (seen["changes"], seen["hidden"], seen["reason"], seen["digest"]) == ([], 4, None, None)
        (row,) = (await get(client, reader, "/lineage-baselines"))["data"]["baselines"]
        assert (row["state"], row["differing"]) == ("drifted", 4)
        assert (await get(client, reader, PATH, as_of=iso(before)))["data"]["state"] == "ok"
        assert (await get(client, stranger, "/lineage-baselines"))["data"]["baselines"] == []
        assert (await client.get(f"/api/v2{PATH}", headers=stranger)).status_code == 404
        for path in (PATH, "/lineage-baselines", "/events", "/rule-states", "/incidents"):
            text = (await client.get(f"/api/v2{path}", headers=reader)).text
            assert not any(one in text for one in SECRET), path
            assert not any(one in text for one in ("the council", "whence_lineageBaseline")), path

        assert (await accept(client, ada)).status_code in (200, 202)
        assert (await get(client, reader, PATH))["data"]["state"] == "ok"
        ended = await accept(client, steward, end=True)
        assert ended.json()["data"]["state"] == "no baseline"
        assert (await get(client, ada, "/lineage-baselines"))["data"]["baselines"] == []

    run(shop, work)


def test_a_difference_is_an_incident_until_it_is_accepted(shop: House) -> None:
    ada, reader, at = shop.key("ada", Role.ADMIN), shop.key("reader", Role.READER, "postgres*"), now()

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        await app.state.rules.stop()
        await app.state.incidents.stop()

        async def look() -> int:
            number: int = await app.state.rules.record()
            await client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=ada)
            return number

        async def titles() -> list[str]:
            found = (await get(client, reader, "/incidents"))["data"]["incidents"]
            return [one["title"].rpartition(": ")[2] for one in found]

        await send(client, ada, ran(1, at - DAY, REVENUE, ("sum", HR, "amount", "SUM(amount)")))
        await client.post(f"/api/v2{PATH}", json={"reason": "right"}, headers=ada)
        assert [await look(), await titles()] == [0, []]
        await send(client, ada, ran(2, now(), REVENUE, ("sum", HR, "amount", "MAX(amount)")))
        assert [await look(), await look(), await titles()] == [1, 0, ["its lineage differs from the accepted one"]]
        (state,) = (await get(client, reader, "/rule-states", kind="lineage"))["data"]
        assert (state["state"], state["reason"], state["columns"]) == ("violated", None, [])
        await client.post(f"/api/v2{PATH}", json={"reason": "right, too"}, headers=ada)
        await client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=ada)
        assert [await look(), await titles()] == [1, []]

    engine = open_store(shop.settings.store_url)
    with applying(engine, shop.settings.data / "log"):
        shop.run(work)
    engine.dispose()
