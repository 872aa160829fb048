"""Circuit breakers over HTTP: closed, open by columns on the way, cannot know; as of a time; who reads which names."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from security.conftest import House, now
from security.incidents.story import (
    BUILD,
    DRAW,
    HR,
    LOAD,
    ORDERS,
    PAY,
    PROD,
    REVENUE,
    SALARIES,
    STAGING,
    Runs,
    acted,
)
from security.incidents.test_contract_findings import contracted, seen
from security.incidents.test_incidents import Desk, run
from security.slos.test_slos import HOUR, declared, fresh
from whence.model.access import Grant, Role
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName
from whence.openlineage.write import column_lineage
from whence.query.answers.instants import iso
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant

MODEL = DatasetName("mlflow://models", "churn\x1b[31m\u202e'; drop")
TRAIN, CHECK = JobName("ml", "train"), JobName("dev", "check")


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    return house()


async def breaker(desk: Desk, node: object = MODEL, headers: dict[str, str] | None = None, **parameters: str) -> Any:
    answer = await desk.client.get(
        "/api/v2/circuit-breaker", params={"node": str(node), **parameters}, headers=headers or desk.headers
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def column_edges(body: bytes, *edges: tuple[DatasetName, str, DatasetName, str]) -> bytes:
    """The event of a run whose one output has column lineage."""
    event = json.loads(body)
    made = [
        Edge(source=FieldName(one, column), target=FieldName(other, target), type="DIRECT", subtype="IDENTITY")
        for one, column, other, target in edges
    ]
    event["outputs"][0]["facets"]["columnLineage"] = column_lineage(made)
    return json.dumps(event).encode()


def check(*, success: bool, column: str = "id") -> dict[str, Any]:
    return {"assertion": "unique", "column": column, "success": success, "severity": "error", "actual": "3"}


def test_it_opens_by_what_the_model_reads_and_closes_when_that_is_good(shop: House) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        await desk.send(
            contracted(ORDERS, began - 9 * HOUR, "id", "customer"),
            declared(fresh(REVENUE), began - 9 * HOUR, "key:ada"),
            seen(runs(began - HOUR // 4, LOAD, outputs=[ORDERS]), id="text", customer="text"),
            runs(began - HOUR // 5, BUILD, [ORDERS], [REVENUE]),
            runs(began - HOUR // 6, TRAIN, [REVENUE], [MODEL]),
        )
        await desk.record()
        found = await breaker(desk)
        assert (found["state"], found["reasons"], found["unknown"]) == ("closed", [], [])
        assert (found["datasets"], found["unwatched"]) == (3, [str(MODEL)])
        # A column disappears at the source, two hops away.
        await desk.send(seen(runs(began - HOUR // 8, LOAD, outputs=[ORDERS]), id="text"))
        await desk.record()
        found = await breaker(desk)
        (reason,) = found["reasons"]
        assert found["state"] == "open"
        assert (reason["kind"], reason["dataset"], reason["column"], reason["distance"]) == (
            "contract",
            str(ORDERS),
            "customer",
            2,
        )
        (incident,) = (await desk.get())["incidents"]
        assert (reason["incident"], reason["incident_state"]) == (incident["id"], "open")
        assert (await breaker(desk, TRAIN))["state"] == "open"
        assert (await breaker(desk, LOAD))["state"] == "unknown"
        assert (await breaker(desk, as_of=iso(began - HOUR // 7)))["state"] == "closed"
        # A person says that it does no harm; then it fails for another reason.
        await desk.send(acted(incident, "mitigate", now(), "key:ada"))
        found = await breaker(desk)
        assert (found["state"], found["excused"]) == ("closed", 1)
        await desk.send(runs(now(), CHECK, [REVENUE], checks=[check(success=False)]))
        assert [one["kind"] for one in (await breaker(desk))["reasons"]] == ["check"]
        await desk.send(acted(incident, "reopen", now(), "key:ada"))
        assert [one["kind"] for one in (await breaker(desk))["reasons"]] == ["check", "contract"]
        await desk.send(
            runs(now(), CHECK, [REVENUE], checks=[check(success=True)]),
            seen(runs(now(), LOAD, outputs=[ORDERS]), id="text", customer="text"),
        )
        assert (await breaker(desk))["state"] == "closed"
        missing = await desk.client.get("/api/v2/circuit-breaker", params={"node": "nothing"}, headers=desk.headers)
        assert missing.status_code == 404

    run(shop, work)


def test_only_columns_on_the_way_count_where_they_are_known(shop: House) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        await desk.send(
            column_edges(
                runs(began - 3 * HOUR, BUILD, [ORDERS], [REVENUE]),
                (ORDERS, "id", REVENUE, "key"),
                (ORDERS, "amount", REVENUE, "total"),
            ),
            runs(began - 2 * HOUR, CHECK, [ORDERS], checks=[check(success=False, column="AMOUNT")]),
        )
        states = {column: (await breaker(desk, FieldName(REVENUE, column)))["state"] for column in ("key", "total")}
        assert states == {"key": "closed", "total": "open"}
        assert (await breaker(desk, REVENUE))["state"] == "open"

    run(shop, work)


def test_what_nothing_watches_cannot_be_known(shop: House) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        await desk.send(runs(began - HOUR, BUILD, [ORDERS], [REVENUE]), runs(began, TRAIN, [REVENUE], [MODEL]))
        found = await breaker(desk)
        assert (found["state"], found["unwatched_datasets"], found["datasets"]) == ("unknown", 3, 3)
        assert found["unknown"] == ["nothing watches what it reads: no objective, no contract, no check"]
        assert found["unwatched"] == [str(MODEL), str(REVENUE), str(ORDERS)]
        await desk.send(runs(now(), LOAD, outputs=[ORDERS]), runs(now(), LOAD, state=RunState.FAIL))
        assert (await breaker(desk))["state"] == "open"

    run(shop, work)


def test_everybody_reads_the_same_state_and_no_name_that_they_may_not_see(shop: House) -> None:
    began, runs, rng = now(), Runs(), random.Random("breakers")
    spaces = (PROD, STAGING, HR, "airflow", "mlflow://models")
    viewers = []
    for number in range(12):
        spoken = frozenset(one for one in spaces if rng.random() < 0.5)
        headers = shop.key(f"viewer{number}", Role.READER, "nothing")
        with write_security(shop.engine) as connection:
            for one in spoken:
                add_grant(connection, f"key:viewer{number}", Grant(Role.READER, one))
        viewers.append((headers, spoken))

    async def work(desk: Desk) -> None:
        await desk.send(
            contracted(SALARIES, began - 9 * HOUR, "secret words"),
            contracted(REVENUE, began - 9 * HOUR, "secret total"),
            seen(runs(began - 5 * HOUR, PAY, outputs=[SALARIES]), id="text"),
            seen(runs(began - 4 * HOUR, BUILD, [ORDERS, SALARIES], [REVENUE]), total="text"),
            runs(began - 3 * HOUR, TRAIN, [REVENUE], [MODEL]),
            runs(began - 2 * HOUR, DRAW, [ORDERS], checks=[check(success=False, column="secret")]),
        )
        whole = await breaker(desk)
        assert (whole["state"], len(whole["reasons"]), whole["hidden_reasons"]) == ("open", 3, 0)
        refused = 0
        for headers, spoken in viewers:
            answer = await desk.client.get("/api/v2/circuit-breaker", params={"node": str(MODEL)}, headers=headers)
            if "mlflow://models" not in spoken:
                assert answer.status_code == 404
                refused += 1
                continue
            found = answer.json()["data"]
            assert found["state"] == whole["state"]
            assert len(found["reasons"]) + found["hidden_reasons"] == 3
            for one in found["reasons"]:
                assert one["dataset"].split(":", 1)[1].startswith(tuple(spoken))
                assert (one["rule"], one["reason"], one["run"]) == (None, None, None)
            if HR not in spoken:
                assert not [one for one in ("hr:5432", "salaries", "secret words") if one in answer.text]
            if PROD not in spoken:
                assert not [one for one in ("shop.", "secret total") if one in answer.text]
        assert 0 < refused < len(viewers)

    run(shop, work)
