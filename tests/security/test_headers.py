"""No answer is kept for somebody else, or taken for another type: what every answer says of itself."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from query.worlds.churn_story import column
from security.conftest import House
from security.test_access import served
from whence.model.access import Action, Role

MAIL = str(column("gold/features", "email_hash"))
TWO_ENDS = {"source": str(column("raw/customers.csv", "email")), "target": MAIL}

TAGGED: list[tuple[str, dict[str, Any]]] = [
    *((f"/api/v2/lineage/{way}", {"node": MAIL}) for way in ("upstream", "downstream", "both")),
    *((f"/api/v2/{question}", {"node": MAIL}) for question in ("impact", "history")),
    *((f"/api/v2/{question}", TWO_ENDS) for question in ("paths", "why", "why-not")),
    ("/api/v2/search", {"q": "features"}),
    *((f"/api/v2/{kind}", {}) for kind in ("datasets", "jobs", "namespaces", "events")),
]
"""Questions with answers that carry an ETag."""


def test_every_answer_says_that_it_is_of_its_type_and_whose_it_is(churn: House) -> None:
    strangers: list[dict[str, str]] = [{}, {"Authorization": "Bearer wrong"}]
    known = [churn.key("nobody"), churn.key("reader", Role.READER, "file"), churn.key("admin", Role.ADMIN)]

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        seen = set[int]()
        for way, path, action in [*served(app), ("GET", "/no/such/path", Action.READ)]:
            for headers in (*strangers, *known):
                # A stream, which is told to end; the other routes do not know the parameter.
                answer = await client.request(way, path, params={"seconds": 0}, headers=headers, content=b"{")
                seen.add(answer.status_code)
                got = answer.headers
                assert got.get_list("x-content-type-options", split_commas=True) == ["nosniff"], (way, path)
                if action is not Action.PUBLIC:
                    assert {"private", "no-store"} & set(got["cache-control"].split(", ")), (way, path)
                    assert {"Authorization", "Cookie"} <= set(got.get_list("vary", split_commas=True)), (way, path)
        assert seen >= {200, 400, 401, 403, 404, 422}

    churn.run(work)


@pytest.mark.parametrize(("path", "asked"), TAGGED, ids=[path for path, _ in TAGGED])
def test_the_tag_of_an_answer_is_good_for_its_viewer_only(churn: House, path: str, asked: dict[str, Any]) -> None:
    viewers = [
        churn.key("lake", Role.READER, "file"),
        churn.key("other", Role.READER, "file"),
        churn.key("admin", Role.ADMIN),
    ]

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        answers = [await client.get(path, params=asked, headers=one) for one in viewers]
        assert [one.status_code for one in answers] == [200] * 3
        tags = [one.headers["etag"] for one in answers]
        assert len(set(tags)) == 3, "each sees something else, tokens at least"
        for headers, own in zip(viewers, tags, strict=True):
            others = ", ".join(tag for tag in tags if tag != own)
            again = await client.get(path, params=asked, headers=headers | {"If-None-Match": others})
            assert again.status_code == 200
            assert again.headers["etag"] == own

    churn.run(work)
