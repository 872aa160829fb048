"""A scheduler that reports nothing any more is one incident, not one for each table, and not silence."""

import json
from collections.abc import Callable

import pytest

from security.conftest import House, now
from security.incidents.story import BOARD, BUILD, DRAW, LOAD, ORDERS, REVENUE, Runs
from security.incidents.test_incidents import Desk, run
from security.slos.test_slos import HOUR, declared, fresh
from whence.govern.assertions import set_tier
from whence.openlineage.write import dataset_event


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    return house()


def regular(runs: Runs, last: int) -> list[bytes]:
    """Three jobs of one scheduler that ran every 12 h until a time (µs)."""
    writes = {LOAD: ORDERS, BUILD: REVENUE, DRAW: BOARD}
    return [runs(last - 12 * number * HOUR, job, outputs=[to]) for number in range(6) for job, to in writes.items()]


@pytest.mark.parametrize(("tier", "notify"), [(2, "ticket"), (1, "page")])
def test_it_is_one_incident_until_it_reports_again(shop: House, tier: int, notify: str) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        tiered = dataset_event(began - 90 * HOUR, ORDERS, facets={"whence_tier": set_tier(tier)})
        objectives = [declared(fresh(one, "16h", one.name), began - 60 * HOUR, "key:ada") for one in (ORDERS, REVENUE)]
        await desk.send(*regular(runs, began - 20 * HOUR), *objectives, json.dumps(tiered).encode())
        await desk.record()
        silent = [one for one in (await desk.get())["incidents"] if "reports nothing" in one["title"]]
        assert [(one["roots"], one["symptoms"]) for one in silent] == [([str(ORDERS), str(REVENUE)], [])]
        assert len((await desk.get())["incidents"]) == 1
        (one,) = silent
        assert (one["title"], one["notify"]) == ("shop.orders: its source reports nothing, and 1 more dataset", notify)
        found = await desk.get(f"/{one['id']}")
        assert (found["rollback"], found["pause"]) == (None, None)  # no data is known to be wrong
        assert {(each["kind"], each["rule"]) for each in found["findings"]} == {("capture", "its source reports")}
        assert all(each["reason"].startswith("its source has been silent since") for each in found["findings"])
        # One job reports: its source is not silent any more, and what is too old is late.
        await desk.send(runs(now(), DRAW, outputs=[BOARD]))
        await desk.record()
        assert (await desk.get(f"/{one['id']}"))["incident"]["state"] == "resolved"
        late = [each for each in (await desk.get())["incidents"] if "is violated" in each["title"]]
        assert {root for each in late for root in (*each["roots"], *each["symptoms"])} == {str(ORDERS), str(REVENUE)}

    run(shop, work)
