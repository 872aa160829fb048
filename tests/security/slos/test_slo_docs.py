"""docs/reference/http-slos.md tells the truth: its examples are answered as it says."""

import json

import httpx

from security.conftest import House, now
from security.slos.test_slos import HOUR, declared, fresh, record, run, send, shop, written
from test_docs import EXAMPLE, page, shape
from whence.api.slos.recording import SloRecording
from whence.govern.slos.slo_file import read_slos
from whence.model.access import Role
from whence.model.names import DatasetName

__all__ = ["shop"]

REVENUE = DatasetName("postgres://db:5432", "shop.revenue")


def test_every_example_is_answered_as_it_says(shop: House) -> None:
    ada, at = shop.key("ada", Role.ADMIN), now()
    document = json.loads(fresh(REVENUE, title="revenue is fresh").text)
    del document["slos"][0]["description"]
    (one,) = read_slos(json.dumps(document)).objectives
    examples = EXAMPLE.findall(page("docs/reference/http-slos.md"))
    assert len(examples) == 2

    async def work(client: httpx.AsyncClient, recording: SloRecording) -> None:
        bodies = written(REVENUE, at - 5 * HOUR, 1), declared(one, at - HOUR, "key:ada")
        await send(client, ada, *bodies)
        assert await record(client, ada, recording) == 1
        for method, target, _, status, documented in examples:
            answer = await client.request(method, target, headers=ada)
            assert answer.status_code == int(status), (target, answer.text)
            assert shape(answer.json()) == shape(json.loads(documented)), (target, answer.text)

    run(shop, work)
