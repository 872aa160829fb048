"""docs/reference/http-access.md tells the truth: its examples are answered as it says."""

import json
from collections.abc import Callable
from typing import Any

import httpx
from fastapi import FastAPI

from security.conftest import House
from test_docs import EXAMPLE, page, shape
from whence.model.access import Role

SESSION = "0a1b2c3d4e5f6071"


def read(text: str) -> Any:
    """A document; when a key was used is written down a little later, so it does not count."""
    return json.loads(text, object_hook=lambda one: {**one, "used_at": None} if "used_at" in one else one)


def test_every_example_is_answered_as_it_says(house: Callable[..., House]) -> None:
    made = house()
    admin = made.key("root", Role.ADMIN)
    examples = EXAMPLE.findall(page("docs/reference/http-access.md"))
    assert len(examples) == 17

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        session = ""
        for method, documented_target, body, status, documented in examples:
            target = documented_target.replace(SESSION, session)
            sent = body.replace("whence_…", admin["Authorization"].removeprefix("Bearer ")).encode()
            headers = {**admin, "Content-Type": "application/json"}
            answer = await client.request(method, target, content=sent, headers=headers)
            client.cookies.clear()
            assert answer.status_code == int(status), (target, answer.text)
            found = answer.text if answer.content else "null"
            assert shape(read(found)) == shape(read(documented)), target
            if target == "/api/v2/sessions":
                session = answer.json()["data"][0]["id"]

    made.run(work)
