"""Violated contracts are findings of incidents: schemas, measurements, checks and levels, and who reads which names."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from security.conftest import House, now
from security.incidents.story import BUILD, DRAW, LOAD, ORDERS, PAY, REVENUE, SALARIES, Runs
from security.incidents.test_incidents import Desk, run
from security.slos.test_slos import HOUR
from whence.govern.assertions import assert_facets, set_contract, set_tier
from whence.govern.incidents import contract_violations
from whence.model.access import Role
from whence.model.names import DatasetName
from whence.openlineage.write import dataset_event, facet, own_facet
from whence.query.answers.instants import iso

SECRET = "secret words\x1b[2J"


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    return house()


def contracted(name: DatasetName, at: int, *columns: str, **more: Any) -> bytes:
    """A contract of a dataset whose columns are all text."""
    promised = [{"name": one, "logicalType": "string"} for one in columns]
    return json.dumps(assert_facets(name, at, "https://ada", set_contract("1.0.0", columns=promised, **more))).encode()


def seen(body: bytes, **types: str) -> bytes:
    """The event of a run whose outputs have these columns."""
    event = json.loads(body)
    fields = [{"name": name, "type": type_} for name, type_ in types.items()]
    for one in event["outputs"]:
        one["facets"]["schema"] = facet("SchemaDatasetFacet", fields=fields)
    return json.dumps(event).encode()


def measured(runs: Runs, at: int, nulls: int) -> bytes:
    """The event of a run that loaded orders, with how many of their ids are missing."""
    event = json.loads(runs(at, LOAD, outputs=[ORDERS]))
    metrics = own_facet("DataQualityMetrics", rowCount=9, columnMetrics={"id": {"nullCount": nulls}})
    event["outputs"][0]["facets"]["dataQualityMetrics"] = metrics
    return json.dumps(event).encode()


def test_a_column_that_disappears_is_one_incident_until_it_is_back(shop: House) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        await desk.send(
            contracted(ORDERS, began - 9 * HOUR, "id", "customer"),
            contracted(REVENUE, began - 9 * HOUR, "total"),
            seen(runs(began - 6 * HOUR, LOAD, outputs=[ORDERS]), id="text", customer="varchar"),
            seen(runs(began - 5 * HOUR, BUILD, [ORDERS], [REVENUE]), total="text"),
        )
        assert await desk.record() == []
        await desk.send(
            seen(runs(began - 3 * HOUR, LOAD, outputs=[ORDERS]), id="text"),
            seen(runs(began - 2 * HOUR, BUILD, [ORDERS], [REVENUE]), total="int"),
        )
        assert await desk.record() == [("open", "ticket")]
        assert await desk.record() == [("open", "ticket")]
        (one,) = (await desk.get())["incidents"]
        assert (one["root"], one["symptoms"], one["since"]) == (str(ORDERS), [str(REVENUE)], iso(began - 3 * HOUR))
        assert one["title"] == "shop.orders: contract rule column of customer is violated, and 1 more dataset"
        assert one["notify_rule"] == "its contract is violated, and the dataset is not of tier 1"
        found = (await desk.get(f"/{one['id']}"))["findings"]
        assert [(each["kind"], each["rule"], each["reason"]) for each in found] == [
            ("contract", "column of customer", "expected string, found not reported"),
            ("contract", "column of total", "expected string, found int"),
        ]
        assert (await desk.get(as_of=iso(began - 4 * HOUR)))["incidents"] == []
        (then,) = (await desk.get(as_of=iso(began - 5 * HOUR // 2)))["incidents"]
        assert (then["id"], then["symptoms"]) == (one["id"], [])
        await desk.send(
            seen(runs(now(), LOAD, outputs=[ORDERS]), id="text", customer="text"),
            seen(runs(now(), BUILD, [ORDERS], [REVENUE]), total="text"),
        )
        assert (await desk.record())[-1] == ("resolved", None)
        (done,) = (await desk.get(state="resolved"))["incidents"]
        assert done["id"] == one["id"]

    run(shop, work)


def test_measurements_checks_and_levels_are_judged_and_a_dropped_dataset_has_no_finding(shop: House) -> None:
    began, runs = now(), Runs()
    rules = [
        {"rule": "few nulls", "column": "id", "metric": "nullValues", "operators": {"mustBe": 0}},
        {"rule": "unique", "column": "id", "metric": "duplicateValues", "operators": {"mustBe": 0}},
    ]
    levels = [{"property": "freshness", "value": 4, "unit": "h"}]

    async def work(desk: Desk) -> None:
        tier = dataset_event(began - 9 * HOUR, ORDERS, facets={"whence_tier": set_tier(1)})
        unique = {"assertion": "unique", "column": "id", "success": False, "severity": "error", "actual": "3"}
        await desk.send(
            json.dumps(tier).encode(),
            contracted(ORDERS, began - 9 * HOUR, quality=rules, serviceLevels=levels),
            measured(runs, began - 8 * HOUR, 0),
            measured(runs, began - 7 * HOUR, 2),
            runs(began - 6 * HOUR, DRAW, [ORDERS], checks=[unique]),
        )
        (one,) = (await desk.get())["incidents"]
        assert (one["notify"], one["root"]) == ("page", str(ORDERS))
        found = (await desk.get(f"/{one['id']}"))["findings"]
        assert sorted((each["since"], each["kind"], each["rule"]) for each in found) == [
            (iso(began - 7 * HOUR), "contract", "few nulls of id"),
            (iso(began - 6 * HOUR), "contract", "unique of id"),
            (iso(began - 3 * HOUR + 1), "contract", "freshness"),
        ]
        await desk.send(measured(runs, now(), 0))
        kept = (await desk.get(f"/{one['id']}"))["findings"]
        assert [each["rule"] for each in kept if each["until"] is None] == ["unique of id"]
        assert [each["id"] for each in kept] == [each["id"] for each in found]
        drop = {"lifecycleStateChange": own_facet("LifecycleStateChange", lifecycleStateChange="DROP")}
        await desk.send(json.dumps(dataset_event(now(), ORDERS, facets=drop)).encode())
        kept = (await desk.get(f"/{one['id']}"))["findings"]
        assert [each["kind"] for each in kept if each["until"] is None] == ["check"]

    run(shop, work)


def test_an_incident_lists_the_violation_before_many_runs_or_says_that_some_are_not_known(
    shop: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first bad run of many is what the page of an incident is for."""
    began, runs = now() - 9 * HOUR, Runs()
    rules = [{"rule": "few nulls", "column": "id", "metric": "nullValues", "operators": {"mustBe": 0}}]

    async def work(desk: Desk) -> None:
        await desk.send(
            contracted(ORDERS, began - HOUR, quality=rules),
            measured(runs, began, 0),
            *(measured(runs, began + each * HOUR // 20, 2) for each in range(1, 121)),
        )
        await desk.record()  # else the server records meanwhile, and incidents are computed again below
        (one,) = (await desk.get())["incidents"]
        found = await desk.get(f"/{one['id']}")
        assert found["contract_violations"] == [
            {
                "dataset": str(ORDERS),
                "rule": "few nulls",
                "column": "id",
                "since": iso(began + HOUR // 20),
                "until": None,
            }
        ]
        assert found["violations_complete"]
        monkeypatch.setattr(contract_violations, "MOST_REPORTS", 60)
        monkeypatch.setattr(contract_violations, "_TOGETHER", 60)
        # The good report is older than those that are read at first: older ones are read, and the incident is the same.
        again = await desk.get(f"/{one['id']}")
        assert (again["contract_violations"], again["violations_complete"]) == (found["contract_violations"], True)
        assert [each["since"] for each in again["findings"]] == [iso(began + HOUR // 20)]
        await desk.record()
        assert [each["id"] for each in (await desk.get())["incidents"]] == [one["id"]]
        monkeypatch.setattr(contract_violations, "MOST_READ", 60)
        (other,) = (await desk.get())["incidents"]
        assert not (await desk.get(f"/{other['id']}"))["violations_complete"]

    run(shop, work)


def test_a_viewer_reads_no_rule_and_no_column_of_a_contract(shop: House) -> None:
    began, runs = now(), Runs()
    reader = shop.key("reader", Role.READER, "postgres://prod*")

    async def work(desk: Desk) -> None:
        await desk.send(
            contracted(SALARIES, began - 9 * HOUR, SECRET),
            contracted(REVENUE, began - 9 * HOUR, SECRET, "total"),
            seen(runs(began - 6 * HOUR, PAY, outputs=[SALARIES]), id="text"),
            seen(runs(began - 5 * HOUR, BUILD, [ORDERS, SALARIES], [REVENUE]), total="int"),
        )
        await desk.record()
        (whole,) = (await desk.get())["incidents"]
        assert (whole["root"], whole["symptoms"]) == (str(SALARIES), [str(REVENUE)])
        listed = await desk.client.get("/api/v2/incidents", headers=reader)
        shown = await desk.client.get(f"/api/v2/incidents/{whole['id']}", headers=reader)
        for answer in (listed, shown):
            assert answer.status_code == 200
            assert not [one for one in ("secret", "salaries", "hr:5432") if one in answer.text]
        row = shown.json()["data"]["incident"]
        assert (row["root"], row["hidden_datasets"]) == (None, 1)
        assert row["title"] == "shop.revenue: its contract is violated, and 1 more dataset"
        assert {(one["kind"], one["rule"]) for one in shown.json()["data"]["findings"]} == {("contract", None)}

    run(shop, work)
