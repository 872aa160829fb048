"""docs/reference/http-certification.md tells the truth: its examples are answered as it says."""

import json

import httpx

from govern.certification.shop_story import ruled, written
from security.certification.test_certification import run, send, shop
from security.certification.test_policies import declared
from security.conftest import House, now
from test_docs import EXAMPLE, page, shape
from whence.govern.rule_states.records import rule_transition_event
from whence.govern.rule_states.states import RuleState, find_new_transitions
from whence.model.access import Role
from whence.model.names import DatasetName

__all__ = ["shop"]

JSON_BODY = {"Content-Type": "application/json"}
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
POLICY = f"""\
version: 1
policies:
  - name: owned
    reason: somebody must answer for it
    owner: data-office
    namespaces: ["{REVENUE.namespace}"]
    where: {{kind: dataset}}
    require: {{owned: true}}
"""


def violated(at: int) -> bytes:
    state = RuleState(
        kind="policy",
        rule="owned",
        dataset=REVENUE,
        state="violated",
        blocks=True,
        reason="somebody must answer for it",
    )
    (one,) = find_new_transitions([state], {}, at, ())
    return json.dumps(rule_transition_event(one)).encode()


def test_every_example_is_answered_as_it_says(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    examples = EXAMPLE.findall(page("docs/reference/http-certification.md"))
    assert len(examples) == 13

    async def work(client: httpx.AsyncClient) -> None:
        await send(client, ada, written(REVENUE, at, 1), *ruled(at, RULE), *declared(at, POLICY), violated(at))
        for method, target, body, status, documented in examples:
            answer = await client.request(method, target, content=body or None, headers=ada | JSON_BODY)
            assert answer.status_code == int(status), (target, answer.text)
            assert shape(answer.json()) == shape(json.loads(documented)), (target, answer.text)

    run(shop, work)
