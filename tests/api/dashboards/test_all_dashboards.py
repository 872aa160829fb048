"""Of every dashboard: its answer has the documented shape and no hidden name."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from fastapi import FastAPI

from api.asked import asking
from api.dashboards.run_histories import HOUR, SPACES, Ran, events, runs
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from security.conftest import House
from security.conftest import house as house  # a fixture
from whence.model.access import Role
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, dataset_event, facet, run_event
from whence.store.connection.engine import open_store


def test_hidden_names_are_in_no_answer(house: Callable[..., House]) -> None:
    made = house()
    now = time.time_ns() // 1_000
    history = [Ran(JobName(space, f"secret_{space}"), now - HOUR, now - HOUR // 2, RunState.FAIL) for space in SPACES]
    facets = {"schema": facet("SchemaDatasetFacet", fields=[{"name": "f", "type": "int"}])}
    tables = [DatasetName(space, f"secret_{space}") for space in SPACES]
    bodies = [body for number, one in enumerate(history) for body in events(one, number)]
    bodies += [json.dumps(dataset_event(now - HOUR, one, facets=facets)).encode() for one in tables]
    bodies += [
        json.dumps(_run_without_start(number, space, now - HOUR)).encode() for number, space in enumerate(SPACES)
    ]
    engine = open_store(made.settings.store_url)
    apply_bodies(engine, bodies)
    engine.dispose()
    beta = made.key("beta", Role.STEWARD, "beta")
    nodes = [str(one) for one in tables]

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for path, params in (
            ("troubles", {}),
            ("coverage", {}),
            ("coverage/lacking", {"what": "owner"}),
            ("coverage/lacking", {"what": "columns"}),
            ("unfinished-runs", {"lacks": "start"}),
            ("silent-datasets", {}),
            ("schema-changes", {}),
            ("traits", {"node": nodes}),
            ("kpis", {}),
        ):
            answer = await client.get(f"/api/v2/{path}", params=params, headers=beta)
            assert answer.status_code == 200, answer.text
            assert ("alpha" in answer.text, "gamma" in answer.text) == (False, False), path
            assert ("secret_beta" in answer.text) == (path not in ("coverage", "kpis")), path
        troubles = (await client.get("/api/v2/troubles", headers=beta)).json()["data"]
        assert (troubles["failing"], troubles["hidden"], troubles["jobs"][0]["outputs"]) == (1, 2, [])
        assert (await client.get("/api/v2/coverage", headers=beta)).json()["data"]["hidden"] == 3
        for path in ("quarantine", "quarantine/1:16", "failed-checks", "checks?node=dataset:beta:b"):
            assert (await client.get(f"/api/v2/{path}", headers=beta)).status_code == 403
        assert (await client.post("/api/v2/quarantine/1:16/replay", headers=beta)).status_code == 403

    made.run(work)


def _run_without_start(number: int, space: str, at: int) -> dict[str, object]:
    run = RunName(f"1000000{number}-0000-4000-8000-000000000001", JobName(space, f"secret_{space}_copy"))
    ends = [dataset(DatasetName(space, f"secret_{space}_{end}")) for end in ("in", "out")]
    return run_event(at, RunState.COMPLETE, run, inputs=ends[:1], outputs=ends[1:])


def test_answers_have_the_documented_shapes(store_url: str, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000
    engine = open_migrated(store_url)
    history = runs(1, now)
    apply_bodies(engine, [body for number, one in enumerate(history) for body in events(one, number)])
    engine.dispose()
    node = f"dataset:db://x:{history[0].job.namespace}.{history[0].job.name}"
    with asking(tmp_path, store_url) as client:
        for path in (
            *("troubles", "coverage", "coverage/lacking", "unfinished-runs", "silent-datasets", "kpis", "quarantine"),
            *("lost-records", "failed-checks", "schema-changes"),
        ):
            assert client.get(f"/api/v2/{path}").status == 200  # and as documented: see `asked`
        traits = client.get("/api/v2/traits", node=node).json["data"][0]
        own = [one for one in history if one.job == history[0].job]
        last = max(own, key=lambda one: one.ended)
        assert traits["latest"]["state"] == last.state.name
        good = [one.ended for one in own if one.state is RunState.COMPLETE]
        assert (traits["written"] is None) == (not good)
        entry = client.get(f"/api/v2/datasets/db%3A%2F%2Fx/{history[0].job.namespace}.{history[0].job.name}").json[
            "data"
        ]
        assert (traits["first_seen"], traits["deleted"]) == (entry["first_seen"], False)
        assert client.get("/api/v2/traits", node="no node").status == 422
