"""What somebody may not see is in no answer over HTTP, and no tag of an answer serves two people."""

import re
from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI

from query.churn import WORLD, column, data
from query.worlds import load
from security.conftest import House
from whence.model.access import Role
from whence.store.engine import open_store

MAIL = str(column("gold/features", "email_hash"))
HIDDEN_JOBS = ("build_features", "score", "churn:")
QUESTIONS = ("lineage/upstream", "lineage/downstream", "lineage/both", "impact", "history", "blast")


@pytest.fixture
def churn(house: Callable[..., House]) -> House:
    """The churn story, behind keys."""
    made = house()
    engine = open_store(made.settings.store_url)
    load(engine, WORLD)
    engine.dispose()
    return made


def test_a_reader_of_one_namespace_gets_tokens_for_the_rest(churn: House) -> None:
    lake, other = churn.key("lake", Role.READER, "file"), churn.key("other", Role.READER, "file")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for question in QUESTIONS:
            for form in ("application/json", "text/csv"):
                asked = {"params": {"node": MAIL}, "headers": lake | {"Accept": form}}
                answer = await client.get(f"/api/v2/{question}", **asked)
                assert answer.status_code == 200, answer.text
                assert not [word for word in HIDDEN_JOBS if word in answer.text], question
        pair = [
            await client.get("/api/v2/lineage/upstream", params={"node": MAIL}, headers=who) for who in (lake, other)
        ]
        owners = [set(re.findall(r"job:hidden:\w+", answer.text)) for answer in pair]
        assert owners[0]
        assert not owners[0] & owners[1]
        assert pair[0].headers["etag"] != pair[1].headers["etag"]

    churn.run(work)


def test_a_hidden_name_is_not_found_as_one_that_is_not_there(churn: House) -> None:
    churn_only = churn.key("jobs", Role.READER, "churn")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for node in (str(data("predictions")), "dataset:file:/lake/nowhere"):
            answer = await client.get("/api/v2/lineage/upstream", params={"node": node}, headers=churn_only)
            assert answer.status_code == 404
            assert "lake" not in answer.text.replace(node, "")
        found = await client.get("/api/v2/search", params={"q": "lake"}, headers=churn_only)
        assert (found.status_code, "/lake/" in found.text) == (200, False)

    churn.run(work)


def test_what_was_asked_about_is_in_the_audit_log(churn: House) -> None:
    lake = churn.key("lake", Role.READER, "file")

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for more in ({}, {"format": "csv"}):
            await client.get("/api/v2/lineage/upstream", params={"node": MAIL, **more}, headers=lake)

    churn.run(work)
    asked, exported = churn.audited()
    assert (asked.who, asked.action, asked.what) == ("key:lake", "read", "GET /api/v2/lineage/{direction}")
    assert MAIL in asked.nodes
    assert asked.count == exported.count == 2
    assert exported.action == "export"
