"""`whence contain` as a user follows it: a real server with keys, and an Airflow that answers as a real one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from typer.testing import CliRunner, Result

from api.process import Api
from fixtures.migrated_stores import open_migrated
from fixtures.replies import replying
from fixtures.stores_of_events import apply_bodies, applying
from govern.containment.look_alikes import PASSWORD, USER, AirflowLookAlike
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.write import column_lineage, dataset, own_facet, parent_facet, run_event
from whence.store.connection.engine import sqlite_url

SPEC: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "nightly/orchestrators/contain_dags/dags.json").read_text("utf-8")
)
"""The twenty DAGs that `make nightly-airflow` runs in a real Airflow."""
BROKEN, NAMESPACE = "datasetField:db:prod.raw:amount", "prod.airflow"
DEPENDS = {one["dag"] for one in SPEC if one["depends"]}
BEFORE = {one["dag"]: one["paused"] for one in SPEC}
AT = 1_790_000_000_000_000


def column(text: str) -> FieldName:
    table, _, name = text.rpartition(".")
    return FieldName(DatasetName("db", table), name)


def events() -> Iterator[bytes]:
    """A run of each DAG: a job in a task, with Airflow's facet on the run of the task."""
    for place, one in enumerate(SPEC):
        task = RunName(str(UUID(int=2 * place)), JobName(NAMESPACE, f"{one['dag']}.work"))
        facets = {"airflow": own_facet("AirflowRunFacet", dag={"dag_id": one["dag"]}, task={"task_id": "work"})}
        yield json.dumps(run_event(AT + place, RunState.COMPLETE, task, run_facets=facets)).encode()
        source, target = column(one["source"]), column(one["target"])
        subtype = "IDENTITY" if one["kind"] == "DIRECT" else "FILTER"
        edges = [Edge(source=source, target=target, type=one["kind"], subtype=subtype)]
        if one["kind"] == "INDIRECT":
            ends = FieldName(source.dataset, "id"), FieldName(target.dataset, "id")
            edges.append(Edge(source=ends[0], target=ends[1], type="DIRECT", subtype="IDENTITY"))
        event = run_event(
            AT + place,
            RunState.COMPLETE,
            RunName(str(UUID(int=2 * place + 1)), JobName("spark", f"{one['target']} job")),
            run_facets={"parent": parent_facet(task)},
            inputs=[dataset(source.dataset)],
            outputs=[dataset(target.dataset, facets={"columnLineage": column_lineage(edges)})],
        )
        yield json.dumps(event).encode()


@dataclass
class Shop:
    """A server with the lineage of twenty DAGs, and their Airflow."""

    api: Api
    airflow: AirflowLookAlike
    address: str
    home: Path
    keys: dict[str, str]

    def whence(self, *words: str, by: str = "oncall", code: int = Exit.OK) -> Result:
        """What the command prints, by somebody."""
        environment = {
            "WHENCE_URL": f"http://127.0.0.1:{self.api.port}",
            "WHENCE_API_KEY": self.keys[by],
            "WHENCE_AIRFLOW_USER": USER,
            "WHENCE_AIRFLOW_PASSWORD": PASSWORD,
            "WHENCE_AIRFLOW_TOKEN": None,
            "WHENCE_PROFILE": None,
            "WHENCE_STORE": None,
            "WHENCE_DATA": str(self.home),
            "COLUMNS": "200",
        }
        done = CliRunner().invoke(app, ["contain", *words], env=environment)
        assert done.exit_code == code, (words, done.output, done.exception)
        return done

    def plan(self) -> str:
        file = str(self.home / "plan.json")
        self.whence("plan", BROKEN, "--save", file)
        return file


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, dict[str, str], Path]]:
    """One server for all tests here, with the keys of three people."""
    home = tmp_path_factory.mktemp("contain")
    store = sqlite_url(home / "store.db")
    engine = open_migrated(store)
    apply_bodies(engine, list(events()))
    grants = {"oncall": ("steward", "*"), "vera": ("reader", "*"), "eve": ("steward", "staging*")}
    keys = {}
    for name, (role, namespaces) in grants.items():
        words = ("keys", "create", name, "--role", role, "--namespaces", namespaces, "--store", store, "-o", "json")
        made = CliRunner().invoke(app, words, env={"WHENCE_DATA": str(home)})
        assert made.exit_code == 0, made.output
        keys[name] = json.loads(made.stdout)["key"]
    api = Api(home, store, {"open": False})
    with applying(engine, home / "log"):
        try:
            yield api.up(), keys, home
        finally:
            api.down()
            api.listening.close()
    engine.dispose()


@pytest.fixture(params=[3, 2], ids=["airflow3", "airflow2"])
def shop(request: pytest.FixtureRequest, server: tuple[Api, dict[str, str], Path], tmp_path: Path) -> Iterator[Shop]:
    api, keys, _ = server
    airflow = AirflowLookAlike(dict(BEFORE), version=request.param, running={"prod.orders": 2})
    with replying(airflow.answer) as address:
        yield Shop(api, airflow, address, tmp_path, keys)


def test_exactly_what_depends_on_the_column_is_paused_and_restored(shop: Shop) -> None:
    incident = f"INC-{shop.airflow.version}/ü"
    plan = shop.plan()
    planned = json.loads(Path(plan).read_text("utf-8"))
    assert {one["id"] for one in planned["schedules"]} == DEPENDS
    assert len(DEPENDS) == 6
    assert [one["distance"] for one in planned["schedules"]] == [1, 1, 2, 2, 3, 4]
    where = ("--airflow", shop.address)

    dry = shop.whence("apply", plan, *where)
    assert "would pause: 5" in dry.stdout
    assert (shop.airflow.paused, shop.airflow.acts) == (BEFORE, [])

    for person, reason in (("vera", "has no grant to steward"), ("eve", "may not steward in prod.airflow")):
        refused = shop.whence("apply", plan, "--incident", incident, *where, by=person, code=Exit.MISTAKE)
        assert reason in refused.stderr
    assert shop.airflow.acts == []

    done = shop.whence("apply", plan, "--incident", incident, *where)
    assert {name for name, paused in shop.airflow.paused.items() if paused != BEFORE[name]} == DEPENDS - {
        "prod.orders.daily"
    }
    assert "2 runs go on" in done.stdout
    assert "paused: 5, was paused before: 1" in done.stdout
    assert "already contained" in shop.whence("apply", plan, "--incident", incident, *where).stdout
    assert len(shop.airflow.acts) == 5

    steps = json.loads(shop.whence("status", incident, "-o", "json").stdout)["steps"]
    assert [one["phase"] for one in steps].count("paused") == 5
    assert {one["person"] for one in steps} == {"key:oncall"}
    hidden = json.loads(shop.whence("status", incident, "-o", "json", by="eve").stdout)
    assert (hidden["steps"], hidden["hidden"]) == ([], len(steps))

    undone = shop.whence("undo", incident, *where, by="eve", code=Exit.MISTAKE)
    assert f"{len(steps)} steps in namespaces that this key may not read" in undone.stdout
    refused = shop.whence("undo", incident, *where, by="vera", code=Exit.MISTAKE)
    assert "has no grant to steward" in refused.stderr
    shop.whence("undo", incident, *where, "--dry-run")
    assert len(shop.airflow.acts) == 5
    shop.whence("undo", incident, *where)
    assert shop.airflow.paused == BEFORE
    assert "There is nothing to do." in shop.whence("undo", incident, *where).stdout


def test_what_an_orchestrator_refuses_is_reported_and_the_rest_is_done(shop: Shop) -> None:
    incident, plan = f"INC-fail{shop.airflow.version}", shop.plan()
    shop.airflow.failing = {"prod.orders"}
    del shop.airflow.paused["ml_features"]
    done = shop.whence("apply", plan, "--incident", incident, "--airflow", shop.address, code=Exit.MISTAKE)
    assert "failed: 2, paused: 3, was paused before: 1" in done.stdout
    assert "it has no DAG 'ml_features'" in done.stdout
    shop.whence("undo", incident, "--airflow", shop.address)
    assert shop.airflow.paused == {name: paused for name, paused in BEFORE.items() if name != "ml_features"}


def test_only_what_is_allowed_is_paused(shop: Shop) -> None:
    incident, plan = f"INC-allow{shop.airflow.version}", shop.plan()
    few = ("--incident", incident, "--airflow", shop.address, "--most", "5")
    assert "6 targets are more than --most 5" in shop.whence("apply", plan, *few, code=Exit.MISTAKE).stderr
    one = ("--incident", incident, "--airflow", shop.address, "--allow", "prod.*")
    done = shop.whence("apply", plan, *one, code=Exit.MISTAKE)
    assert "--allow does not name it" in done.stdout
    assert {dag for dag, _ in shop.airflow.acts} == {"prod.orders", "prod.bericht_ü"}
    shop.whence("undo", incident, "--airflow", shop.address)
    assert shop.airflow.paused == BEFORE


def test_a_file_that_is_no_plan(shop: Shop) -> None:
    file = shop.home / "other.json"
    file.write_text('{"node": 1}')
    where = ("--airflow", shop.address, "--incident", "INC-9")
    assert "is no plan of `whence contain plan`" in shop.whence("apply", str(file), *where, code=Exit.MISTAKE).stderr
    assert "name an Airflow" in shop.whence("apply", shop.plan(), "--incident", "x", code=Exit.MISTAKE).stderr
