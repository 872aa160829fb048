"""docs/reference/http-gate.md tells the truth: its examples are answered as it says, one after the other."""

import json
from datetime import UTC, datetime, timedelta

import httpx

from security.conftest import House
from security.test_gate_records import run, shop
from test_docs import EXAMPLE, page, shape
from whence.model.access import Role

__all__ = ["shop"]

EXPIRES = "2027-01-31"


def test_every_example_is_answered_as_it_says(shop: House) -> None:
    sent = shop.key("ada", Role.ADMIN) | {"Content-Type": "application/json"}
    text = page("docs/reference/http-gate.md").replace(EXPIRES, f"{datetime.now(UTC).date() + timedelta(days=30)}")
    examples = EXAMPLE.findall(text)
    assert len(examples) == 13

    async def work(client: httpx.AsyncClient) -> None:
        for method, target, body, status, documented in examples:
            answer = await client.request(method, target, content=body.encode() or None, headers=sent)
            assert answer.status_code == int(status), (target, answer.text)
            assert shape(answer.json()) == shape(json.loads(documented)), (target, answer.text)

    run(shop, work)
