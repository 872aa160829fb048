"""People act on incidents over HTTP: who may, what each act needs, and that it is the event that all others send."""

from collections.abc import Mapping
from typing import Any

import httpx

from security.conftest import House, now
from security.incidents.story import COPY, LOAD, ORDERS, PAY, REVENUE, SALARIES, Runs, acted, shop_events
from security.incidents.test_incidents import Desk, run, shop
from security.slos.test_slos import HOUR
from whence.model.access import Role
from whence.model.events import RunState
from whence.query.answers.instants import iso

__all__ = ["shop"]

Headers = Mapping[str, str]
ALWAYS = ["assign", "silence", "confirm", "comment"]


async def post(desk: Desk, id_: str, headers: Headers | None = None, **body: Any) -> httpx.Response:
    answer = await desk.client.post(f"/api/v2/incidents/{id_}/acts", json=body, headers=headers or desk.headers)
    if answer.status_code == 202:
        wait = {"wait_for": answer.headers["whence-position"], "timeout": "20"}
        await desk.client.get("/api/v2/progress", params=wait, headers=desk.headers)
    return answer


def test_what_a_steward_does_is_what_everybody_reads(shop: House) -> None:
    began, runs = now(), Runs()
    steward = shop.key("steward", Role.STEWARD, "postgres://prod*")

    async def work(desk: Desk) -> None:
        await desk.send(*shop_events(runs, began))
        await desk.record()
        (one,) = (await desk.get())["incidents"]
        id_ = one["id"]
        opened = await desk.get(f"/{id_}", headers=steward)
        assert opened["possible_acts"] == ["acknowledge", "mitigate", "resolve", *ALWAYS]
        bodies: list[dict[str, Any]] = [
            {"act": "acknowledge", "text": "on it"},
            {"act": "assign", "assignee": "ben\x1b[2J"},
            {"act": "silence", "seconds": 3_600},
            {"act": "confirm", "cause": str(LOAD)},
            {"act": "comment", "text": "<b>the source is down</b>"},
        ]
        for body in bodies:
            answer = await post(desk, id_, steward, **body)
            assert answer.status_code in (200, 202), answer.text
            assert answer.json()["data"]["person"] == "key:steward"
        found = await desk.get(f"/{id_}")
        row, acts = found["incident"], found["acts"]
        assert (row["state"], row["assignee"], row["cause"]) == ("acknowledged", "ben\x1b[2J", str(LOAD))
        assert [one["act"] for one in acts] == [body["act"] for body in bodies]
        assert acts[2]["until"] == row["silenced_until"] > iso(now() + HOUR - 600_000_000)
        assert {one["person"] for one in acts} == {"key:steward"}
        assert found["changes"][-1]["by"] == "key:steward"
        # An act that changes nothing is refused, and says why; and nobody can act in the past.
        again = await post(desk, id_, steward, act="acknowledge")
        assert (again.status_code, again.json()["reason"]) == (
            409,
            "the incident is acknowledged, so acknowledge would change nothing",
        )
        past = await desk.get(f"/{id_}", as_of=iso(now()))
        assert (past["incident"]["state"], past["possible_acts"]) == ("acknowledged", [])
        assert (await post(desk, id_, steward, act="resolve")).status_code in (200, 202)
        assert (await desk.get(f"/{id_}"))["possible_acts"] == ["reopen", *ALWAYS]
        assert (await post(desk, id_, steward, act="reopen")).status_code in (200, 202)
        assert (await desk.record())[-1] == ("open", "page")

    run(shop, work)


def test_an_act_by_http_and_one_by_an_event_are_the_same(shop: House) -> None:
    began, runs = now(), Runs()

    async def work(desk: Desk) -> None:
        await desk.send(*shop_events(runs, began))
        (one,) = (await desk.get())["incidents"]
        assert await desk.send(acted(one, "assign", now(), "key:ada", assignee="ben", text="his")) == [201]
        assert (await post(desk, one["id"], act="assign", assignee="ben", text="his")).status_code in (200, 202)
        first, second = (await desk.get(f"/{one['id']}"))["acts"]
        assert first | {"id": "", "time": ""} == second | {"id": "", "time": ""}

    run(shop, work)


def test_nobody_acts_without_the_role_or_on_a_root_that_they_may_not_see(shop: House) -> None:
    began, runs = now(), Runs()
    others = [
        shop.key("reader", Role.READER),
        shop.key("writer", Role.WRITER),
        shop.key("stranger", Role.STEWARD, "postgres://staging*"),
    ]
    neighbour = shop.key("neighbour", Role.STEWARD, "postgres://prod*")

    async def work(desk: Desk) -> None:
        # Salaries, of which only the administrator knows, fail first: they are the root of revenue.
        await desk.send(*shop_events(runs, began), runs(began - 3 * HOUR, PAY, state=RunState.FAIL))
        await desk.record()
        every = {one["root"]: one["id"] for one in (await desk.get())["incidents"]}
        secret, orders = every[str(SALARIES)], every[str(ORDERS)]
        for number, headers in enumerate(others):
            answer = await post(desk, orders, headers, act="resolve")
            assert answer.status_code == (404 if number == 2 else 403), answer.text
            if number < 2:
                assert (await desk.get(f"/{orders}", headers=headers))["possible_acts"] == []
        seen = await desk.get(f"/{secret}", headers=neighbour)
        assert (seen["incident"]["root"], seen["possible_acts"]) == (None, [])
        refused = await post(desk, secret, neighbour, act="resolve")
        assert refused.status_code == 403
        assert not [word for word in ("hr", "salaries") if word in refused.text]
        assert (await post(desk, orders, neighbour, act="acknowledge")).status_code in (200, 202)
        # Who may not see everything reads that it is theirs, and not whose it is else.
        for whom, shown in (("key:neighbour", "key:neighbour"), ("ben", None)):
            assert (await post(desk, orders, neighbour, act="assign", assignee=whom)).status_code in (200, 202)
            assert (await desk.get(f"/{orders}", headers=neighbour))["incident"]["assignee"] == shown
        states = {one["id"]: one["state"] for one in (await desk.get())["incidents"]}
        assert states == {secret: "open", orders: "acknowledged"}
        assert str(REVENUE) not in every
        assert str(COPY) not in every

    run(shop, work)


def test_an_act_that_says_nothing_is_refused_with_what_it_needs(shop: House) -> None:
    began, runs = now(), Runs()
    bodies: list[tuple[dict[str, Any], str]] = [
        ({"act": "assign"}, "/assignee"),
        ({"act": "silence"}, "/seconds"),
        ({"act": "silence", "seconds": 59}, "/seconds"),
        ({"act": "silence", "seconds": 30 * 86_400 + 1}, "/seconds"),
        ({"act": "confirm"}, "/cause"),
        ({"act": "confirm", "cause": "orders"}, "/cause"),
        ({"act": "comment"}, "/text"),
        ({"act": "comment", "text": "x" * 2_001}, "/text"),
        ({"act": "resolve", "assignee": "ben"}, "/assignee"),
        ({"act": "delete"}, "/act"),
        ({"act": "comment", "text": "x", "until": 1}, "/until"),
    ]

    async def work(desk: Desk) -> None:
        await desk.send(*shop_events(runs, began))
        (one,) = (await desk.get())["incidents"]
        for body, pointer in bodies:
            answer = await post(desk, one["id"], **body)
            assert (answer.status_code, answer.json()["pointer"].removeprefix("/body")) == (422, pointer), answer.text
        assert (await post(desk, "none", act="acknowledge")).status_code == 404
        assert (await desk.get(f"/{one['id']}"))["acts"] == []

    run(shop, work)
