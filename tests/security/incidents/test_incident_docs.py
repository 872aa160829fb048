"""docs/reference/http-incidents.md tells the truth: its examples are answered as it says."""

import json
import re

from security.conftest import House, now
from security.incidents.story import LOAD, Runs, acted
from security.incidents.test_incidents import Desk, run, shop
from security.slos.test_slos import HOUR
from test_docs import EXAMPLE, page, shape
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName

__all__ = ["shop"]

ORDERS, REVENUE = (DatasetName("postgres://db:5432", name) for name in ("shop.orders", "shop.revenue"))


def test_every_example_is_answered_as_it_says(shop: House) -> None:
    examples = EXAMPLE.findall(page("docs/reference/http-incidents.md"))
    assert len(examples) == 4
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        await desk.send(
            runs(began - 30 * HOUR, LOAD, outputs=[ORDERS]),
            runs(began - 29 * HOUR, JobName("airflow", "build"), [ORDERS], [REVENUE]),
            runs(began - 6 * HOUR, LOAD, state=RunState.FAIL),
        )
        (one,) = (await desk.get())["incidents"]
        await desk.send(acted(one, "acknowledge", now(), "key:ada", text="the source is down"))
        sent = {**desk.headers, "Content-Type": "application/json"}
        for method, target, body, status, documented in examples:
            path = re.sub(r"(?<=incidents/)\w+", one["id"], target)
            answer = await desk.client.request(method, path, headers=sent, content=body or None)
            assert answer.status_code == int(status), (target, answer.text)
            assert shape(answer.json()) == shape(json.loads(documented)), (target, answer.text)

    run(shop, work)
