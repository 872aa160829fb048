"""The governance dashboard over HTTP: the same figures from every side, and for each viewer what they may see. The
examples of docs/reference/http-governance.md are answered as it says.
"""

import asyncio
import json
from collections.abc import Callable
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from fixtures.stores_of_events import apply_bodies
from security.certification.test_certification import get
from security.conftest import House, now
from test_docs import EXAMPLE, page, shape
from ui.stories.rules import (
    DAY,
    DECK,
    ERP,
    EXPIRING,
    INVOICES,
    LAPSED,
    OTHER_REVENUE,
    REVENUE,
    UNCERTIFIED,
    rules,
)
from whence.api.policies.recording import evaluate_declared_rules
from whence.model.access import Role
from whence.model.names import FieldName
from whence.store.connection.engine import open_store


@pytest.fixture
def erp(house: Callable[..., House]) -> House:
    """The rules of the story in a store: one certification lapsed since three days ago."""
    made, at = house(), now()
    engine = open_store(made.settings.store_url)
    apply_bodies(engine, [json.dumps(one).encode() for one in rules(at)])
    for number, when in enumerate((at - 3 * DAY, at), 1):
        events = evaluate_declared_rules(engine, when).events
        apply_bodies(engine, [json.dumps(one).encode() for one in events], 1_000 * number)
    engine.dispose()
    return made


def test_figures_are_those_of_their_lists_and_count_what_is_hidden(erp: House) -> None:
    root, guest = erp.key("root", Role.ADMIN), erp.key("guest", Role.READER, "looker*")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        found = (await get(client, root, "/governance"))["data"]
        violated = (await get(client, root, "/rule-states", kind="policy", state="violated"))["data"]
        assert [one["node"] for one in violated] == [str(INVOICES)]
        assert found["policies"] | {"since": None} == {
            "declared": 1,
            "violated": 1,
            "blocking": 1,
            "not_evaluated": 0,
            "since": None,
        }
        assert found["policies"]["since"] == violated[0]["since"]
        lapsed = (await get(client, root, "/rule-states", kind="certification", lapsed=True))["data"]
        assert [(one["node"], one["owners"], one["reason"]) for one in lapsed] == [
            (str(LAPSED), ["team:finance"], "contract")
        ]
        assert found["certification"] == {"certified": 1, "lapsed": 1, "not_certified": 3, "not_evaluated": 0}
        missing = (await get(client, root, "/rule-states", kind="certification", state="not certified"))["data"]
        assert {one["node"] for one in missing} == {str(LAPSED), str(UNCERTIFIED), str(REVENUE)}
        assert [(one["node"], one["days"]) for one in found["expiring"]] == [(str(EXPIRING), 20)]
        assert (await get(client, root, "/governance", within=19))["data"]["expiring"] == []
        assert found["twins"] == {"complete": True, "groups": 1, "readers": 1}
        assert found["hidden"] == 0
        seen = await get(client, guest, "/governance")
        assert seen["data"]["policies"]["declared"] == seen["data"]["policies"]["violated"] == 0
        assert (seen["data"]["hidden"], seen["data"]["expiring"]) == (4, [])
        assert ERP not in json.dumps(seen)
        async with asyncio.timeout(30):  # the use of a key is audited after its answer
            while not await _uses(client, root):
                pass
        for method, target, _, status, documented in EXAMPLE.findall(page("docs/reference/http-governance.md")):
            answer = await client.request(method, target, headers=root)
            assert answer.status_code == int(status), (target, answer.text)
            documented_data, read = json.loads(documented)["data"], answer.json()["data"]
            if "grants" in read:
                read["grants"] = [one for one in read["grants"] if one["subject"] == "key:root"]
            assert shape(read) == shape(documented_data), target

    erp.run(work)


def test_labels_by_namespace_are_those_of_the_search(erp: House) -> None:
    root, guest = erp.key("root", Role.ADMIN), erp.key("guest", Role.READER, "looker*")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        found = (await get(client, root, "/labels", category="financial"))["data"]
        assert found["by"] == "namespace"  # no labelled dataset has a domain
        assert [one["name"] for one in found["groups"]] == ["looker://erp", ERP]
        for one in found["groups"]:
            for grade, count in one["columns"].items():
                asked = {"q": f"label:financial={grade}", "kind": "field", "namespace": one["name"]}
                listed = (await get(client, root, "/search", **asked))["data"]["nodes"]
                assert len(listed) == count
        assert found["columns"]["statistic"] == 3
        assert found["columns"]["full"] == 1
        by_domain = (await get(client, root, "/labels", category="financial", by="domain"))["data"]
        assert [(one["name"], one["columns"]) for one in by_domain["groups"]] == [("", found["columns"])]
        page = await get(client, root, "/labels", category="financial", limit=1)
        rest = await get(client, root, "/labels", category="financial", limit=1, cursor=page["page"]["next"])
        rows = [*page["data"]["groups"], *rest["data"]["groups"]]
        assert rows == found["groups"]
        assert page["data"]["columns"] == found["columns"]
        # Whose tags are hidden from somebody does not count for them, and they are told that something is not known.
        seen = await get(client, guest, "/labels", category="financial")
        assert seen["data"]["groups"] == []
        assert (seen["data"]["unknown"], seen["data"]["hidden"] > 0) == (1, True)
        assert ERP not in json.dumps(seen)

    erp.run(work)


def test_a_dashboard_is_told_that_it_reads_the_other_truth(erp: House) -> None:
    root, guest = erp.key("root", Role.ADMIN), erp.key("guest", Role.READER, "looker*")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        async def standing(headers: dict[str, str], node: object) -> dict[str, object]:
            found = (await get(client, headers, f"/nodes/{quote(str(node), safe='')}/standing"))["data"]
            return {"standings": found["standings"], **found["twins"]}

        assert await standing(root, DECK) == {
            "standings": [],
            "complete": True,
            "others": [],
            "preferred": [],
            "reads": [{"twin": str(OTHER_REVENUE), "preferred": [str(REVENUE)]}],
        }
        other = await standing(root, OTHER_REVENUE)
        assert (other["others"], other["preferred"]) == ([str(REVENUE)], [str(REVENUE)])
        assert (await standing(root, REVENUE))["standings"] == ["canonical"]
        assert (await standing(root, EXPIRING))["standings"] == ["certified"]
        assert (await standing(guest, DECK))["reads"] == []
        searched = (await get(client, root, "/search", q="revenue", kind="dataset"))["data"]["nodes"]
        assert searched[0] | {"by": ""} == {
            "node": str(REVENUE),
            "kind": "dataset",
            "by": "",
            "labels": [],
            "standings": ["canonical"],
        }
        certified = (await get(client, root, "/search", q="certified:true"))["data"]["nodes"]
        assert [one["node"] for one in certified] == [str(EXPIRING)]
        column = (await get(client, root, "/search", q="amount certified:true"))["data"]["nodes"]
        assert [one["node"] for one in column] == [str(FieldName(EXPIRING, "amount"))]

    erp.run(work)


def test_the_access_review_is_for_administrators_and_keeps_decisions(erp: House) -> None:
    root, steward = erp.key("root", Role.ADMIN), erp.key("bob", Role.STEWARD)
    some = erp.key("some", Role.ADMIN, "looker*")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for headers in (steward, some):
            answer = await client.get("/api/v2/access-review", headers=headers)
            assert answer.status_code == 403
        found = (await get(client, root, "/access-review"))["data"]
        assert {one["subject"] for one in found["grants"]} == {"key:root", "key:bob", "key:some"}
        (bob,) = (one for one in found["grants"] if one["subject"] == "key:bob")
        assert (bob["columns"], found["reviewed_at"], found["columns"]) == ({"full": 1}, None, 1)
        kept = {"subject": "key:bob", "namespaces": "*", "reason": "close of the year"}
        for headers, body, status in (
            (steward, kept, 403),
            (root, kept | {"namespaces": "s3*"}, 404),
            (root, kept | {"reason": "a\nb"}, 422),
            (root, kept, 200),
        ):
            answer = await client.put("/api/v2/grants/kept", json=body, headers=headers)
            assert answer.status_code == status, answer.text
        found = (await get(client, root, "/access-review", window=30))["data"]
        (bob,) = (one for one in found["grants"] if one["subject"] == "key:bob")
        assert (bob["kept"]["by"], bob["kept"]["reason"]) == ("key:root", "close of the year")
        assert (found["reviewed_at"], found["window_days"]) == (bob["kept"]["at"], 30)

    erp.run(work)
    (one,) = (one for one in erp.audited() if one.what == "PUT /api/v2/grants/kept" and one.status == 200)
    assert one.nodes == ("key:bob", "*", "close of the year")


async def _uses(client: httpx.AsyncClient, root: dict[str, str]) -> list[str]:
    """The last use of the administrator's key, if it is known."""
    grants = (await get(client, root, "/access-review"))["data"]["grants"]
    return [one["used_at"] for one in grants if one["subject"] == "key:root" and one["used_at"] is not None]
