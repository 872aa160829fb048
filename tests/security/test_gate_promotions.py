"""Verdicts on promotions over HTTP: who may record them, when they are written, and what each viewer is told."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from fixtures.both_logs import records_of
from security.conftest import House
from security.test_gate_records import run, shop
from whence.model.access import Grant, Role
from whence.openlineage.authority.restrictions import person_uri
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant

__all__ = ["shop"]

MODEL, SECRET = "dataset:file:/models/churn", "dataset:vault:hr.salaries"
PATH = f"/api/v2/gate/promotions/{quote(MODEL, safe='')}"


def promotion(**more: Any) -> dict[str, Any]:
    """A blocked promotion of a model that is made of a secret dataset."""
    finding = {
        "criterion": "violation",
        "text": "a check upstream failed last: hr.salaries has no nulls",
        "verdict": "blocked",
        "nodes": [SECRET, MODEL],
    }
    return {
        "verdict": "blocked",
        "node": MODEL,
        "outputs": [MODEL],
        "inputs": [SECRET],
        "coverage": 0.9,
        "explained_columns": 9,
        "unexplained_columns": 1,
        "findings": [finding],
        "graph_version": "1",
        **more,
    }


def test_only_new_verdicts_are_written_and_a_hook_reads_the_last(shop: House) -> None:
    gate = shop.key("gate", Role.STEWARD, "file")
    with write_security(shop.engine) as connection:
        add_grant(connection, "key:gate", Grant(Role.READER, "*"))

    async def work(client: httpx.AsyncClient) -> None:
        assert (await client.get(PATH, headers=gate)).status_code == 404
        for body, is_written in (
            (promotion(), True),
            (promotion(graph_version="2"), False),
            (promotion(verdict="pass", findings=[]), True),
            (promotion(verdict="pass", findings=[], node="dataset:other:x"), False),
        ):
            answer = await client.put(PATH, json=body, headers=gate)
            assert (answer.status_code, answer.json()["data"]["transition"]) == (200, is_written)
        row = (await client.get(PATH, headers=gate)).json()["data"]
        assert (row["promotion"]["verdict"], row["promotion"]["node"], row["recorded_by"]) == (
            "pass",
            MODEL,
            "key:gate",
        )
        assert (await client.get("/api/v2/gate/promotions", headers=gate)).json()["data"] == [row]

    run(shop, work)
    producers = [one.payload.count(person_uri("key:gate").encode()) > 0 for one in records_of(shop.settings.log)]
    assert producers == [True, True]


@pytest.mark.parametrize(
    ("role", "namespaces"), [(Role.READER, "*"), (Role.WRITER, "*"), (Role.STEWARD, "github.com/*")]
)
def test_nobody_records_without_the_role_in_the_namespace_of_the_node(shop: House, role: Role, namespaces: str) -> None:
    other = shop.key("other", role, namespaces)

    async def work(client: httpx.AsyncClient) -> None:
        assert (await client.put(PATH, json=promotion(), headers=other)).status_code in (403, 404)

    run(shop, work)
    assert records_of(shop.settings.log) == []


@pytest.mark.parametrize("node", ["datasetField:file:/models/churn:x", "churn", "run:1"])
def test_a_promotion_is_of_a_dataset_or_a_job(shop: House, node: str) -> None:
    admin = shop.key("admin", Role.ADMIN)

    async def work(client: httpx.AsyncClient) -> None:
        path = f"/api/v2/gate/promotions/{quote(node, safe='')}"
        assert (await client.put(path, json=promotion(), headers=admin)).status_code == 422

    run(shop, work)


def test_a_viewer_reads_no_hidden_name(shop: House) -> None:
    gate, one = shop.key("gate", Role.STEWARD), shop.key("one", Role.READER, "file")
    stranger = shop.key("stranger", Role.READER, "vault")

    async def work(client: httpx.AsyncClient) -> None:
        await client.put(PATH, json=promotion(), headers=gate)
        shown = (await client.get(PATH, headers=one)).json()["data"]["promotion"]
        (finding,) = shown["findings"]
        assert (shown["inputs"], shown["outputs"]) == (["(hidden)"], [MODEL])
        assert (finding["text"], finding["nodes"]) == ("a check upstream failed last", ["(hidden)", MODEL])
        for path in (PATH, "/api/v2/gate/promotions"):
            text = (await client.get(path, headers=one)).text
            assert not [word for word in ("salaries", "vault") if word in text]
        assert (await client.get(PATH, headers=stranger)).status_code == 404
        assert (await client.get("/api/v2/gate/promotions", headers=stranger)).json()["data"] == []

    run(shop, work)
