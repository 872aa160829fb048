"""docs/reference/http-certification.md tells the truth: its examples are answered as it says."""

import json

import httpx

from govern.certification.shop_story import ruled, written
from security.certification.test_certification import run, send, shop
from security.conftest import House, now
from test_docs import EXAMPLE, page, shape
from whence.model.access import Role
from whence.model.names import DatasetName

__all__ = ["shop"]

REVENUE = DatasetName("postgres://db:5432", "shop.gold.daily_revenue")
RULE = f"""\
version: 1
rules:
  - name: gold
    reason: the board decides by it
    owner: data-office
    namespaces: ["{REVENUE.namespace}"]
    require: {{contract: false, lineage: false, objectives: false, checks: false}}
"""


def test_every_example_is_answered_as_it_says(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    examples = EXAMPLE.findall(page("docs/reference/http-certification.md"))
    assert len(examples) == 5

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, written(REVENUE, at, 1), *ruled(at, RULE))
        for method, target, _, status, documented in examples:
            answer = await client.request(method, target, headers=ada)
            assert answer.status_code == int(status), (target, answer.text)
            assert shape(answer.json()) == shape(json.loads(documented)), (target, answer.text)

    run(shop, work)
