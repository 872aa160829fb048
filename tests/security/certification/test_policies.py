"""Declared policies over HTTP: who may declare one, and what each viewer is told."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
from fastapi import FastAPI

from fixtures.stores_of_events import applying
from govern.certification.shop_story import ADA, DAY, PROD, REVENUE, RULES, owned, raw, ruled, written
from security.certification.test_certification import get, run, send, shop
from security.conftest import House, now
from whence.govern.declared_rules import find_rule_changes, rule_event
from whence.govern.policies.policy_file import read_policies
from whence.govern.policies.records import POLICIES
from whence.model.access import Role
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store

__all__ = ["shop"]

HR = raw(REVENUE).namespace
TEXT = f"""\
version: 1
policies:
  - name: no salaries
    reason: the works council says so
    owner: people
    namespaces: ["{PROD}"]
    forbid: {{derived_from: {{namespace: "{HR}"}}}}
  - name: owned
    reason: somebody must answer for it
    owner: people
    namespaces: ["{HR}"]
    where: {{kind: dataset}}
    require: {{owned: true}}
"""


def declared(at: int, text: str = TEXT) -> Iterator[bytes]:
    for record, namespace in find_rule_changes(read_policies(text).policies, (), prune=False):
        yield json.dumps(rule_event(POLICIES, record, namespace, at, ADA)).encode()


def test_a_policy_takes_a_steward_and_names_nothing_hidden(shop: House) -> None:
    ada, writer, at = shop.key("ada", Role.ADMIN), shop.key("eve", Role.WRITER), now()
    steward, reader = shop.key("bob", Role.STEWARD, f"{PROD}*"), shop.key("reader", Role.READER, "postgres*")
    stranger = shop.key("stranger", Role.READER, "kafka*")

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, written(REVENUE, at - DAY, 1))
        assert await send(client, writer, *declared(at)) == [403, 403]
        assert sorted(await send(client, steward, *declared(at))) == [201, 403]
        assert [one["name"] for one in (await get(client, ada, "/policies"))["data"]] == ["no salaries"]
        assert set(await send(client, ada, *declared(at + 1))) == {201}
        whole, seen = [(await get(client, key, "/policies"))["data"] for key in (ada, reader)]
        assert [(one["name"], HR in one["text"]) for one in whole] == [("owned", True), ("no salaries", True)]
        assert [(one["name"], one["owner"], one["text"]) for one in seen] == [("no salaries", "people", None)]
        assert (await get(client, stranger, "/policies"))["data"] == []
        asked = {
            key: await client.post("/api/v2/policies/evaluation", json={"declared": True}, headers=headers)
            for key, headers in (("ada", ada), ("reader", reader), ("stranger", stranger))
        }
        outcomes = {key: {one["outcome"] for one in answer.json()["data"]["findings"]} for key, answer in asked.items()}
        # Who may not see the source is told that it is not known, and of no policy of its namespace.
        assert outcomes == {"ada": {"violated"}, "reader": {"not evaluated"}, "stranger": set()}
        for key in (reader, stranger):
            texts = [(await client.get(f"/api/v2{path}", headers=key)).text for path in ("/policies", "/events")]
            assert not any("hr://" in text or "works council" in text for text in texts[1:])
        assert "hr://" not in asked["reader"].text

    run(shop, work)


def test_a_text_about_another_namespace_is_no_policy(shop: House) -> None:
    """Who is steward of one namespace sets no rules for another one, whatever a text says."""
    ada, at = shop.key("ada", Role.ADMIN), now()
    steward = shop.key("bob", Role.STEWARD, f"{PROD}*")

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, written(REVENUE, at - DAY, 1))
        forged = [one.replace(HR.encode(), b"s3://x").replace(PROD.encode(), HR.encode()) for one in declared(at)]
        (first, *_) = [json.loads(one) for one in forged]
        (own, *_) = [json.loads(one) for one in declared(at)]
        own["dataset"]["facets"]["whence_policy"]["text"] = first["dataset"]["facets"]["whence_policy"]["text"]
        assert await send(client, steward, json.dumps(own).encode()) == [201]
        assert (await get(client, ada, "/policies"))["data"] == []

    run(shop, work)


VETTED = f"""\
version: 1
policies:
  - name: vetted
    reason: the council of hr://secret says so
    owner: people
    namespaces: ["{PROD}"]
    where: {{kind: dataset}}
    require: {{certified: true}}
"""


def test_a_violation_and_a_lapse_are_findings_recorded_once(shop: House) -> None:
    """A certified dataset whose policy holds; its certification lapses, so the policy is violated; then all is well."""
    ada, at = shop.key("ada", Role.ADMIN), now()
    reader, stranger = shop.key("reader", Role.READER, "postgres*"), shop.key("stranger", Role.READER, "kafka*")
    rule = RULES.replace("where:", "require: {contract: false, lineage: false, objectives: false}\n    where:")

    async def states(client: httpx.AsyncClient, key: dict[str, str], **asked: Any) -> list[tuple[str, str, bool]]:
        found = (await get(client, key, "/rule-states", **asked))["data"]
        return sorted((one["kind"], one["state"], one["lapsed"]) for one in found)

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        await app.state.rules.stop()
        await app.state.incidents.stop()

        async def look() -> int:
            number: int = await app.state.rules.record()
            await client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=ada)
            return number

        await send(client, ada, written(REVENUE, at - DAY, 1), owned(REVENUE, at - DAY, "team:shop"))
        await send(client, ada, *ruled(at - DAY, rule), *declared(at - DAY, VETTED))
        assert [await look(), await look()] == [1, 0]
        assert await states(client, ada) == []
        (facts,) = (await get(client, ada, "/facts", node=str(REVENUE)))["data"]
        assert (facts["certification"], facts["certification_status"]) == ([], "certified")

        before = now()
        await send(client, ada, owned(REVENUE, before + 1))
        assert [await look(), await look()] == [2, 0]
        expected = [("certification", "not certified", True), ("policy", "violated", False)]
        assert await states(client, ada) == await states(client, reader) == expected
        assert await states(client, stranger) == await states(client, ada, as_of=iso(before)) == []
        assert await states(client, ada, kind="policy", rule="vetted") == expected[1:]
        incidents = (await get(client, reader, "/incidents"))["data"]["incidents"]
        assert {one["title"].partition(": ")[2] for one in incidents} == {
            "it is no longer certified",
            "policy vetted is violated",
        }
        for path in ("/incidents", "/rule-states"):
            text = (await client.get(f"/api/v2{path}", headers=reader)).text
            assert "hr://" not in text

        await send(client, ada, owned(REVENUE, now(), "team:shop"))
        assert [await look(), await look()] == [2, 0]
        assert await states(client, ada) == []
        assert (await get(client, ada, "/incidents"))["data"]["incidents"] == []

    engine = open_store(shop.settings.store_url)
    with applying(engine, shop.settings.data / "log"):
        shop.run(work)
    engine.dispose()
