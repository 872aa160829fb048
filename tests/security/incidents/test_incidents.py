"""Incidents over HTTP: which there are, who may act on them, what is recorded, and what each viewer is told."""

import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from fixtures.both_logs import records_of
from fixtures.stores_of_events import applying
from security.conftest import House, now
from security.incidents.story import (
    BOARD,
    BUILD,
    CLONE,
    COPY,
    DRAW,
    LOAD,
    ORDERS,
    PAY,
    PROD,
    REVENUE,
    SALARIES,
    STAGING,
    Runs,
    acted,
    shop_events,
)
from security.slos.test_slos import HOUR, send
from whence.govern.assertions import set_tier
from whence.govern.incidents.records import list_incident_transitions
from whence.model.access import Grant, Role
from whence.model.events import RunState
from whence.model.names import JobName
from whence.openlineage.write import dataset_event
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant
from whence.store.snapshots.catalog import StoreCatalog, snapshot

SECRETS = ("hr:5432", "salaries", "secret_pay", "secret words")


@dataclass
class Desk:
    """The application while events come into the store, and only the test looks."""

    client: httpx.AsyncClient
    app: FastAPI
    headers: dict[str, str]

    async def send(self, *bodies: bytes, headers: dict[str, str] | None = None) -> list[int]:
        return await send(self.client, headers or self.headers, *bodies)

    async def record(self) -> list[tuple[str, str | None]]:
        """Record transitions of objectives, then of incidents: all of the latter that there are. The server itself may
        have recorded some of them.
        """
        for recording in (self.app.state.slos, self.app.state.incidents):
            await recording.record()
            await self.client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=self.headers)
        with snapshot(self.app.state.engine) as connection:
            found = list_incident_transitions(StoreCatalog(connection))
        return [(one.record.after, one.record.notify) for one in found]

    async def get(self, path: str = "", headers: dict[str, str] | None = None, **parameters: Any) -> Any:
        answer = await self.client.get(f"/api/v2/incidents{path}", params=parameters, headers=headers or self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    return house()


def run(made: House, work: Callable[[Desk], Awaitable[None]]) -> None:
    engine, ada = open_store(made.settings.store_url), made.key("ada", Role.ADMIN)

    async def inside(client: httpx.AsyncClient, app: FastAPI) -> None:
        await work(Desk(client, app, ada))

    with applying(engine, made.settings.data / "log"):
        made.run(inside)
    engine.dispose()


def test_a_failed_load_is_one_incident_until_it_is_mended(shop: House) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        assert set(await desk.send(*shop_events(runs, began))) == {201}
        # Revenue is late; the load fails; an alert pages.
        began_so = [("open", None), ("open", "ticket"), ("open", "page")]
        assert await desk.record() == began_so
        assert await desk.record() == began_so
        (one,) = (await desk.get())["incidents"]
        assert one | {"id": "", "since": "", "owners": []} == {
            "id": "",
            "title": "shop.orders: job load fails, and 1 more dataset",
            "state": "open",
            "notify": "page",
            "notify_rule": "an alert of the objective pages",
            "root": str(ORDERS),
            "roots": [str(ORDERS)],
            "symptoms": [str(REVENUE)],
            "other_roots": [],
            "hidden_datasets": 0,
            "since": "",
            "until": None,
            "findings": 2,
            "tier": None,
            "owners": [],
            "routed_to": "platform",
            "assignee": None,
            "silenced_until": None,
            "cause": None,
            "merged": [],
            "complete": True,
        }
        id_ = one["id"]
        # Three hours ago nothing was wrong; then revenue was late, and nobody knew why; then the load failed.
        assert (await desk.get(as_of=iso(began - 7 * HOUR // 2)))["incidents"] == []
        (then,) = (await desk.get(as_of=iso(began - 11 * HOUR // 4)))["incidents"]
        assert (then["root"], then["symptoms"]) == (str(REVENUE), [])
        (then,) = (await desk.get(as_of=iso(began - 9 * HOUR // 4)))["incidents"]
        assert (then["root"], then["symptoms"]) == (str(ORDERS), [str(REVENUE)])
        at = now()
        acts = [
            acted(one, "acknowledge", at, "key:ada", text="secret words"),
            acted(one, "assign", at + 1, "key:ada", assignee="ben"),
            acted(one, "silence", at + 2, "key:ada", until=at + HOUR),
            acted(one, "confirm", at + 3, "key:ada", cause=str(LOAD)),
            acted(one, "comment", at + 4, "key:ada", text="the source was down"),
        ]
        assert set(await desk.send(*acts)) == {201}
        assert await desk.record() == [*began_so, ("acknowledged", "page")]
        detail = await desk.get(f"/{id_}")
        row = detail["incident"]
        assert (row["state"], row["assignee"], row["cause"]) == ("acknowledged", "ben", str(LOAD))
        assert row["silenced_until"] == iso(at + HOUR)
        assert detail["severity"] == "high"
        assert (detail["last_good"]["job"], detail["last_good"]["time"]) == (str(LOAD), iso(began - 6 * HOUR))
        back, pause = detail["rollback"], detail["pause"]
        assert (back["job"], back["time"], back["version"]) == (str(LOAD), iso(began - 6 * HOUR), None)
        assert (pause["node"], pause["total"], pause["unscheduled"]) == (str(ORDERS), 0, 2)
        assert [(one["kind"], one["total"]) for one in detail["impact"]] == [("dataset", 2), ("job", 2)]
        assert [one["node"] for one in detail["impact"][0]["nearest"]] == [str(REVENUE), str(BOARD)]
        assert [one["slo"] for one in detail["budgets"]] == ["shop/fresh"]
        assert detail["causes"][0]["node"] == str(ORDERS)
        assert [act["person"] for act in detail["acts"]] == ["key:ada"] * 5
        assert [(one["state"], one["notify"]) for one in detail["changes"]][-1] == ("acknowledged", "page")
        # The load is mended and revenue is built: the data is good again, and the alert of revenue still burns.
        await desk.send(runs(now(), LOAD, outputs=[ORDERS]), runs(now(), BUILD, [ORDERS, SALARIES], [REVENUE]))
        await desk.record()
        row = (await desk.get(f"/{id_}"))["incident"]
        assert (row["state"], row["until"]) == ("mitigated", None)
        await desk.send(acted(row, "resolve", now(), "key:ada", text="mended"))
        assert (await desk.record())[-1] == ("resolved", None)
        assert (await desk.get())["incidents"] == []
        (done,) = (await desk.get(state="resolved"))["incidents"]
        assert (done["id"], done["notify"]) == (id_, None)
        # Something new opens it again.
        await desk.send(runs(now(), LOAD, state=RunState.FAIL))
        assert (await desk.record())[-1] == ("open", "page")
        (reopened,) = (await desk.get())["incidents"]
        assert (reopened["id"], reopened["state"]) == (id_, "open")
        assert (await desk.client.get("/api/v2/incidents/none", headers=desk.headers)).status_code == 404

    run(shop, work)


def test_a_failed_check_of_tier_1_pages_and_one_that_only_warns_is_none(shop: House) -> None:
    began, runs = now(), Runs()
    test = JobName("dev", "test")

    def check(name: str, *, success: bool, severity: str = "error") -> dict[str, Any]:
        return {"assertion": name, "column": "id", "success": success, "severity": severity, "actual": "3"}

    async def work(desk: Desk) -> None:
        tier = dataset_event(began - 9 * HOUR, ORDERS, facets={"whence_tier": set_tier(1)})
        await desk.send(
            *shop_events(runs, began)[:5],
            json.dumps(tier).encode(),
            runs(began - 3 * HOUR, test, [ORDERS, REVENUE], checks=[check("unique", success=True)]),
            runs(began - 2 * HOUR, test, [COPY], checks=[check("not null", success=False, severity="warn")]),
            runs(began - 2 * HOUR, test, [ORDERS], checks=[check("unique", success=False)]),
            runs(began - HOUR, test, [REVENUE], checks=[check("unique", success=False)]),
        )
        (one,) = (await desk.get())["incidents"]
        assert (one["title"], one["notify"], one["tier"]) == (
            "shop.orders: check unique of id fails, and 1 more dataset",
            "page",
            1,
        )
        assert (one["root"], one["symptoms"]) == (str(ORDERS), [str(REVENUE)])
        detail = await desk.get(f"/{one['id']}")
        assert (detail["severity"], detail["findings"][0]["reason"]) == ("critical", "found 3")
        await desk.send(runs(now(), test, [ORDERS, REVENUE], checks=[check("unique", success=True)]))
        (done,) = (await desk.get(state="resolved"))["incidents"]
        assert (done["id"], done["notify"]) == (one["id"], None)

    run(shop, work)


def test_two_recorders_and_one_that_was_killed_record_a_transition_once(shop: House) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        await desk.send(*shop_events(runs, began))
        await desk.app.state.slos.record()
        await desk.send()
        recording = desk.app.state.incidents
        first, second = recording.read(now()).events, recording.read(now() + 1_000).events
        assert first == second
        assert await desk.send(*(json.dumps(one, ensure_ascii=False).encode() for one in first)) == [201] * len(first)
        assert len(await desk.record()) == 3

    run(shop, work)
    assert sum(b"whence_incidentTransition" in one.payload for one in records_of(shop.settings.log)) == 3


def test_nobody_acts_without_the_role_in_the_namespace_of_the_root(shop: House) -> None:
    began, runs = now(), Runs()
    others = [
        shop.key("reader", Role.READER),
        shop.key("writer", Role.WRITER),
        shop.key("stranger", Role.STEWARD, "postgres://staging*"),
    ]
    steward = shop.key("steward", Role.STEWARD, "postgres://prod*")

    async def work(desk: Desk) -> None:
        await desk.send(*shop_events(runs, began))
        await desk.record()
        (one,) = (await desk.get())["incidents"]
        for headers in others:
            assert await desk.send(acted(one, "resolve", now(), "key:ada"), headers=headers) == [403]
        # Nor by an event about a dataset of theirs that names the incident.
        forged = json.loads(acted(one, "resolve", now(), "key:stranger"))
        forged["dataset"]["name"] = forged["dataset"]["name"].replace("prod", "staging")
        await desk.send(json.dumps(forged).encode(), headers=others[-1])
        moved = {**one, "root": str(COPY)}
        await desk.send(acted(moved, "resolve", now(), "key:stranger"), headers=others[-1])
        assert (await desk.get(f"/{one['id']}"))["incident"]["state"] == "open"
        assert await desk.send(acted(one, "resolve", now(), "key:steward"), headers=steward) == [201]
        detail = await desk.get(f"/{one['id']}")
        assert (detail["incident"]["state"], detail["changes"][-1]["by"]) == ("resolved", "key:steward")

    run(shop, work)


def around(found: dict[str, Any]) -> tuple[Any, ...]:
    """What is known around a root, and whether that is all."""
    return found["causes"], found["impact"], found["impact_complete"], found["violations_complete"]


def test_a_viewer_reads_no_name_that_they_may_not_see(shop: House) -> None:
    began, runs, rng = now(), Runs(), random.Random("viewers")
    spaces = (PROD, STAGING, "airflow", "dev")
    viewers = []
    for number in range(7):
        seen = frozenset(one for one in spaces if rng.random() < 0.6)
        headers = shop.key(f"viewer{number}", Role.READER, "nothing")
        with write_security(shop.engine) as connection:
            for one in seen:
                add_grant(connection, f"key:viewer{number}", Grant(Role.READER, one))
        viewers.append((headers, seen))

    async def work(desk: Desk) -> None:
        # Salaries fail first, so they are the root of revenue, too; and a copy in staging fails on its own.
        failed = [runs(began - 3 * HOUR, PAY, state=RunState.FAIL), runs(began - HOUR, CLONE, state=RunState.FAIL)]
        owned = [runs(began - HOUR, DRAW, [REVENUE], [BOARD], RunState.FAIL)]
        secret = {"assertion": "secret words", "column": "salaries", "success": False, "actual": "secret words"}
        owned.append(runs(began - HOUR, CLONE, [COPY], state=RunState.FAIL, checks=[secret]))
        await desk.send(*shop_events(runs, began), *failed, *owned)
        await desk.record()
        every = (await desk.get())["incidents"]
        assert {(one["root"], len(one["symptoms"])) for one in every} == {
            (str(SALARIES), 2),
            (str(ORDERS), 0),
            (str(COPY), 0),
        }
        hidden_root = next(one for one in every if one["root"] == str(SALARIES))
        assert hidden_root["other_roots"] == [str(ORDERS)]
        act = acted(hidden_root, "assign", now(), "key:ada", assignee="secret words", text="secret words")
        cause = acted(hidden_root, "confirm", now() + 1, "key:ada", cause=str(SALARIES))
        await desk.send(act, cause)
        await desk.record()
        for headers, seen in viewers:
            text, found = "", await desk.get(headers=headers)
            for one in every:
                answer = await desk.client.get(f"/api/v2/incidents/{one['id']}", headers=headers)
                names = [one["root"], *one["symptoms"]]
                is_seen = any(name.startswith(f"dataset:{space}:") for name in names for space in seen)
                assert answer.status_code == (200 if is_seen else 404)
                if is_seen and answer.json()["data"]["incident"]["root"] is None:
                    assert around(answer.json()["data"]) == ([], [], False, False)
                text += answer.text
            text += json.dumps(found)
            assert not [secret for secret in SECRETS if secret in text], seen
            if PROD not in seen:
                assert "shop.revenue" not in text
                assert "board" not in text
            if "airflow" not in seen:
                assert "job load fails" not in text
            assert len(found["incidents"]) + found["hidden"] == len(every)
            for one in found["incidents"]:
                whole = next(each for each in every if each["id"] == one["id"])
                named = {*one["roots"], *one["symptoms"], *one["other_roots"]}
                assert named <= {*whole["roots"], *whole["symptoms"], *whole["other_roots"]}
                total = {*whole["roots"], *whole["symptoms"], *whole["other_roots"]}
                assert len(named) + one["hidden_datasets"] == len(total)
                assert (one["state"], one["notify"], one["since"]) == (whole["state"], whole["notify"], whole["since"])

    run(shop, work)
