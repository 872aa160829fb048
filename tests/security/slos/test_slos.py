"""Objectives over HTTP: who may declare them, when transitions are recorded, and what each viewer is told."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from fixtures.both_logs import records_of
from fixtures.stores_of_events import applying
from security.conftest import House, now
from whence.api.operations import recording
from whence.api.slos.recording import SloRecording
from whence.govern.slos.objectives import Objective
from whence.govern.slos.records import declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.model.access import Grant, Role
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import dataset, run_event
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant

HOUR = 3_600_000_000
PROD, STAGING, DEV = (DatasetName(f"postgres://{name}:5432", "shop.revenue") for name in ("prod", "staging", "dev"))
EVIL = DatasetName("postgres://hr:5432", "salaries\x1b[31m\u202e<b>%2F/é\n")
EVERY = (PROD, STAGING, DEV, EVIL)
SECRETS = ("hr:5432", "salaries", "reason that names salaries", "secret_load")


def written(name: DatasetName, at: int, number: int, job: str = "load") -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", job))
    return json.dumps(run_event(at, RunState.COMPLETE, run, outputs=[dataset(name)])).encode()


def fresh(name: DatasetName, limit: str = "2h", title: str = "fresh", service: str = "shop") -> Objective:
    text = f"""\
version: 1
service: {json.dumps(service)}
slos:
  - name: {json.dumps(title)}
    description: reason that names salaries
    dataset: {json.dumps(str(name))}
    indicator: {{freshness: {{limit: {limit}}}}}
    objective: {{target: 90%}}
    alerting: [{{factor: 4, longWindow: 2h, shortWindow: 1h, notify: page}}]
"""
    (found,) = read_slos(text).objectives
    return found


def declared(one: Objective, at: int, person: str, *, ended: bool = False) -> bytes:
    record = declaration_of(one, ended=ended)
    return json.dumps(declaration_event(record, one.dataset.namespace, at, person_uri(person))).encode()


@pytest.fixture
def shop(house: Callable[..., House]) -> House:
    return house()


Work = Callable[[httpx.AsyncClient, SloRecording], Awaitable[None]]


def run(made: House, work: Work) -> None:
    """Work while events come into the store, and only the test evaluates."""
    engine = open_store(made.settings.store_url)

    async def inside(client: httpx.AsyncClient, app: FastAPI) -> None:
        await work(client, app.state.slos)

    with applying(engine, made.settings.data / "log"):
        made.run(inside)
    engine.dispose()


async def send(client: httpx.AsyncClient, headers: dict[str, str], *bodies: bytes) -> list[int]:
    answers = [await client.post("/api/v1/lineage", content=body, headers=headers) for body in bodies]
    await client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=headers)
    return [one.status_code for one in answers]


async def record(client: httpx.AsyncClient, headers: dict[str, str], recording: SloRecording) -> int:
    count = await recording.record()
    await client.get("/api/v2/progress", params={"wait_for": "head", "timeout": 20}, headers=headers)
    return count


def test_a_server_evaluates_as_soon_as_there_are_new_events(shop: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, began = shop.key("ada", Role.ADMIN), now()
    monkeypatch.setattr(recording, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(recording, "LOOK_SECONDS", 1e9)

    async def work(client: httpx.AsyncClient, slos: SloRecording) -> None:
        slos.start()
        late = [written(STAGING, began - 5 * HOUR, 2), declared(fresh(STAGING), began - 6 * HOUR, "key:ada")]
        assert await send(client, ada, *late) == [201] * 2
        async with asyncio.timeout(30):
            while not (await client.get("/api/v2/slos/shop%2Ffresh", headers=ada)).json()["data"]["transitions"]:
                await asyncio.sleep(0)
        await slos.stop()

    run(shop, work)


def test_objectives_are_declared_evaluated_recorded_and_ended(shop: House) -> None:
    ada, began = shop.key("ada", Role.ADMIN), now()
    objectives = [fresh(one) for one in EVERY]

    async def work(client: httpx.AsyncClient, recording: SloRecording) -> None:
        async def get(path: str, **parameters: Any) -> Any:
            answer = await client.get(f"/api/v2/slos{path}", params=parameters, headers=ada)
            assert answer.status_code == 200, answer.text
            return answer.json()["data"]

        # Production is fresh, staging is late, and nobody wrote development.
        bodies = [written(PROD, began - HOUR, 1), written(STAGING, began - 5 * HOUR, 2), written(EVIL, began, 3)]
        at = began - 6 * HOUR
        assert await send(client, ada, *bodies, *(declared(one, at, "key:ada") for one in objectives)) == [201] * 7
        found = (await get(""))["slos"]
        assert {(one["dataset"], one["state"], one["notify"]) for one in found} == {
            (str(PROD), "holds", None),
            (str(STAGING), "violated", "page"),
            (str(DEV), "not evaluated", None),
            (str(EVIL), "holds", None),
        }
        assert {one["declared_by"] for one in found} == {"key:ada"}
        assert await record(client, ada, recording) == 5
        assert await record(client, ada, recording) == 0
        staging = next(one for one in found if one["dataset"] == str(STAGING))
        detail = await get(f"/{staging['id']}", series=4)
        assert [(one["after"], one["notify"]) for one in detail["transitions"]] == [
            ("violated", "page"),
            ("violated", None),
            ("holds", None),
        ]
        assert detail["transitions"][1]["time"] == iso(began - 3 * HOUR)
        times = [one["at"] for one in detail["series"]]
        assert times == sorted({*times, *(one["time"] for one in detail["transitions"])}), "what is short is seen"
        assert len(times) == 4 + 3
        assert detail["series"][-1]["remaining"] == pytest.approx(staging["budget"]["remaining"], abs=1e-3)
        # What was, then: before it was late, and before it was declared.
        past = await get(f"/{staging['id']}", as_of=iso(began - 4 * HOUR))
        assert (past["slo"]["state"], len(past["transitions"])) == ("holds", 1)
        assert (await get("", as_of=iso(began - 7 * HOUR)))["slos"] == []
        assert [one["dataset"] for one in (await get("", dataset=str(EVIL)))["slos"]] == [str(EVIL)]
        # Four have one name; a name with its service and an id are two ways to one.
        assert (await client.get("/api/v2/slos/fresh", headers=ada)).status_code == 422
        assert (await client.get("/api/v2/slos/none", headers=ada)).status_code == 404
        # It is written again, and later it ends.
        await send(client, ada, written(STAGING, now(), 4))
        assert await record(client, ada, recording) == 1
        await send(client, ada, declared(objectives[1], now(), "key:ada", ended=True))
        assert await record(client, ada, recording) == 1
        assert (await get(f"/{staging['id']}"))["slo"]["state"] == "ended"
        assert len((await get(""))["slos"]) == 3

    run(shop, work)


def test_two_evaluators_and_one_that_was_killed_record_a_transition_once(shop: House) -> None:
    ada, began = shop.key("ada", Role.ADMIN), now()

    async def work(client: httpx.AsyncClient, recording: SloRecording) -> None:
        bodies = [written(PROD, began - 5 * HOUR, 1), declared(fresh(PROD), began - 6 * HOUR, "key:ada")]
        await send(client, ada, *bodies)
        first = recording.read(now()).events  # of an evaluator that is killed before it appends
        second = recording.read(now() + 1_000).events
        assert first == second
        assert await record(client, ada, recording) == len(first)
        texts = [json.dumps(one, ensure_ascii=False).encode() for one in first]
        assert await send(client, ada, *texts) == [201] * len(first)
        assert await record(client, ada, recording) == 0
        detail = await client.get("/api/v2/slos/shop%2Ffresh", headers=ada)
        assert len(detail.json()["data"]["transitions"]) == len(first) == 3

    run(shop, work)
    kinds = [b"whence_sloTransition" in one.payload for one in records_of(shop.settings.log)]
    assert sum(kinds) == 3


def test_nothing_is_evaluated_while_events_wait(house: Callable[..., House]) -> None:
    made = house()
    ada, began = made.key("ada", Role.ADMIN), now()

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        body = declared(fresh(PROD), began - 6 * HOUR, "key:ada")
        await app.state.slos.stop()  # of what it computes by itself, nothing is under way
        await client.post("/api/v1/lineage", content=body, headers=ada)
        app.state.slos.patience = 0.2
        evaluated = app.state.slos.evaluated_at
        assert await app.state.slos.record() == 0
        assert app.state.slos.evaluated_at == evaluated

    made.run(work)


@pytest.mark.parametrize(
    ("role", "namespaces"), [(Role.READER, "*"), (Role.WRITER, "*"), (Role.STEWARD, "postgres://dev*")]
)
def test_nobody_declares_without_the_role_in_the_namespace_of_the_dataset(
    shop: House, role: Role, namespaces: str
) -> None:
    ada, other = shop.key("ada", Role.ADMIN), shop.key("other", role, namespaces)

    async def work(client: httpx.AsyncClient, recording: SloRecording) -> None:
        assert await send(client, other, declared(fresh(PROD), now(), "key:other")) == [403]
        # Nor by an event about a dataset of theirs that names another one.
        forged = json.loads(declared(fresh(PROD), now(), "key:other"))
        forged["dataset"]["name"] = forged["dataset"]["name"].replace("prod", "dev")
        await send(client, other, json.dumps(forged).encode())
        found = (await client.get("/api/v2/slos", headers=ada)).json()["data"]
        assert (found["slos"], found["hidden"]) == ([], 0)
        assert await record(client, ada, recording) == 0

    run(shop, work)


def test_every_viewer_reads_the_same_states_and_hidden_objectives_are_only_counted(shop: House) -> None:
    ada, began = shop.key("ada", Role.ADMIN), now()
    viewers = {}
    rng = random.Random("viewers")
    for number in range(12):
        seen = frozenset(one for one in (PROD, STAGING, DEV) if rng.random() < 0.6)
        headers = shop.key(f"viewer{number}", Role.READER, "nothing")
        with write_security(shop.engine) as connection:
            for one in seen:
                add_grant(connection, f"key:viewer{number}", Grant(Role.READER, one.namespace))
        viewers[number] = (headers, seen)

    async def work(client: httpx.AsyncClient, recording: SloRecording) -> None:
        bodies = [written(one, began - rng.randrange(9) * HOUR, n, "secret_load") for n, one in enumerate(EVERY)]
        objectives = [fresh(one, title=f"{n} fresh") for n, one in enumerate(EVERY)]
        await send(client, ada, *bodies, *(declared(one, began - 9 * HOUR, "key:ada") for one in objectives))
        await record(client, ada, recording)
        at = {"as_of": iso(now())}
        every = (await client.get("/api/v2/slos", params=at, headers=ada)).json()["data"]["slos"]
        states = {one["dataset"]: _state(one) for one in every}
        assert len(states) == len(EVERY)
        for headers, seen in viewers.values():
            text = ""
            for path in ("", *(f"/{one['id']}" for one in every), "/shop%2F3 fresh"):
                answer = await client.get(
                    f"/api/v2/slos{path}", params=at | {"series": 3} if path else at, headers=headers
                )
                assert answer.status_code in ((200,) if not path else (200, 404))
                text += answer.text
            assert not [secret for secret in SECRETS if secret in text]
            found = (await client.get("/api/v2/slos", params=at, headers=headers)).json()["data"]
            assert {one["dataset"]: _state(one) for one in found["slos"]} == {
                str(one): states[str(one)] for one in seen
            }
            assert found["hidden"] == len(EVERY) - len(seen)

    run(shop, work)


def _state(row: dict[str, Any]) -> list[Any]:
    return [row[name] for name in ("state", "notify", "since", "budget", "burn_rates", "target", "indicator")]
