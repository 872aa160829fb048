"""A broken column, contained in a real Airflow with `whence contain` as users do: 20 DAGs, of which 6 depend on it.

`make nightly-airflow` runs it. `contain_dags/dags.json` says which: written by hand from the columns.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from nightly.orchestrators.airflow_server import HERE, NAMESPACE, PASSWORD, USER, Airflow, airflow
from nightly.producers.served import Served, serving

SPEC = json.loads((HERE / "contain_dags" / "dags.json").read_text("utf-8"))
BROKEN = "datasetField:db:prod.raw:amount"
DEPENDS = {one["dag"] for one in SPEC if one["depends"]}
PAUSED_BEFORE = {one["dag"] for one in SPEC if one["paused"]}
FOLDER = Path(__file__).parents[2] / "govern" / "containment"


@dataclass(frozen=True)
class Estate:
    """A Whence with the lineage of twenty DAGs that ran in an Airflow."""

    served: Served
    server: Airflow
    home: Path
    key: str

    def whence(self, *words: str, key: str = "") -> str:
        """What `whence` prints, with the credentials of Airflow in the environment."""
        done = self.run(*words, key=key)
        assert done.returncode == 0, done.stdout + done.stderr
        print(f"$ whence {' '.join(words)}\n{done.stdout}")  # noqa: T201  # for the report of the nightly
        return done.stdout

    def run(self, *words: str, key: str = "") -> "subprocess.CompletedProcess[str]":
        """The same, however it ends."""
        to = {"WHENCE_URL": self.served.url, "WHENCE_API_KEY": key or self.key}
        user = {"WHENCE_AIRFLOW_USER": USER, "WHENCE_AIRFLOW_PASSWORD": PASSWORD}
        command = [sys.executable, "-m", "whence.cli", *words]
        return subprocess.run(command, env={**os.environ, **to, **user}, capture_output=True, text=True, check=False)

    def paused(self) -> set[str]:
        """The DAGs that are paused in Airflow."""
        found = self.server.ask("GET", "dags", params={"limit": 100})["dags"]
        assert len(found) == 20
        return {one["dag_id"] for one in found if one["is_paused"]}


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    home = tmp_path_factory.mktemp("airflow").resolve()
    with (
        serving(tmp_path_factory.mktemp("whence")) as served,
        airflow(home, "contain_dags", len(SPEC)) as server,
    ):
        for place, one in enumerate(SPEC):
            server.trigger(quote(one["dag"], safe=""), None, f"run{place}")
        server.await_runs(len(SPEC))
        assert {one["dag_id"]: one["state"] for one in server.runs() if one["state"] != "success"} == {}
        writer = served.user("airflow", "writer", "*").key
        events = [*server.provider_events(), *_lines(home / "columns.jsonl")]
        for event in events:
            headers = {"Authorization": f"Bearer {writer}"}
            httpx.post(f"{served.url}/api/v1/lineage", json=event, headers=headers, timeout=60).raise_for_status()
        served.admin.await_all()
        for one in SPEC:
            body = {"is_paused": one["paused"]}
            server.ask("PATCH", f"dags/{quote(one['dag'], safe='')}", json=body)
        yield Estate(served, server, home, served.user("oncall", "steward", "*").key)


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_exactly_the_dags_that_depend_on_the_column_are_paused_and_restored(estate: Estate) -> None:
    assert estate.paused() == PAUSED_BEFORE
    plan = str(estate.home / "plan.json")
    printed = estate.whence("contain", "plan", BROKEN, "--save", plan)
    assert "Nothing was paused." in printed
    planned = json.loads(Path(plan).read_text())
    assert {one["id"] for one in planned["schedules"]} == DEPENDS
    assert {one["namespace"] for one in planned["schedules"]} == {NAMESPACE}
    assert estate.paused() == PAUSED_BEFORE

    dry = estate.whence("contain", "apply", plan, "--airflow", estate.server.url)
    assert dry.count("would pause") == 6, dry  # five, and the count of them
    assert estate.paused() == PAUSED_BEFORE, "a dry run changes nothing"
    assert "Nothing was contained." in estate.whence("contain", "status")

    viewer = estate.served.user("vera", "reader", "*").key
    refused = estate.run("contain", "apply", plan, "--incident", "INC-1", "--airflow", estate.server.url, key=viewer)
    assert (refused.returncode, "has no grant to steward" in refused.stderr) == (1, True), refused.stderr
    assert estate.paused() == PAUSED_BEFORE, "who may not contain pauses nothing"

    estate.whence("contain", "apply", plan, "--incident", "INC-1", "--airflow", estate.server.url)
    assert estate.paused() == PAUSED_BEFORE | DEPENDS
    assert len(DEPENDS) == 6
    again = estate.whence("contain", "apply", plan, "--incident", "INC-1", "--airflow", estate.server.url)
    assert "already contained" in again
    estate.whence("contain", "status", "INC-1")

    estate.whence("contain", "undo", "INC-1", "--airflow", estate.server.url, "--dry-run")
    assert estate.paused() == PAUSED_BEFORE | DEPENDS
    estate.whence("contain", "undo", "INC-1", "--airflow", estate.server.url)
    assert estate.paused() == PAUSED_BEFORE, "those that were paused before are paused"
    assert "There is nothing to do." in estate.whence("contain", "undo", "INC-1", "--airflow", estate.server.url)


def test_what_is_to_run_again_is_what_airflow_would_clear(estate: Estate) -> None:
    """The requests as they are written, which are dry runs: also of tasks that succeeded."""
    printed = estate.whence("rerun", "plan", BROKEN, "--to", "dataset:db:prod.revenue", "--for", "airflow")
    requests = [json.loads(line) for line in printed.splitlines()]
    assert [one["layer"] for one in requests] == [1, 2, 3]
    cleared = [
        instance["dag_id"]
        for one in requests
        for instance in estate.server.ask(one["method"], one["path"].removeprefix("/api/v2/"), json=one["body"])[
            "task_instances"
        ]
    ]
    assert cleared == ["prod.orders", "prod.orders.daily", "finance-revenue"]
    estate.whence("rerun", "plan", BROKEN, "--to", "dataset:db:prod.revenue")


def test_the_answers_that_the_tests_of_each_commit_use_are_those_of_this_airflow(estate: Estate) -> None:
    """`WHENCE_RECORD=1` writes them anew."""
    dag = quote("prod.orders", safe="")
    asked: dict[str, tuple[str, str, dict[str, Any]]] = {
        "version": ("GET", "version", {}),
        "dag": ("GET", f"dags/{dag}", {}),
        "patch": ("PATCH", f"dags/{dag}", {"params": {"update_mask": "is_paused"}, "json": {"is_paused": False}}),
        "runs": ("GET", f"dags/{dag}/dagRuns", {"params": {"state": "running", "limit": 1}}),
        "clear": (
            "POST",
            f"dags/{dag}/clearTaskInstances",
            {"json": {"dry_run": True, "only_failed": False, "dag_run_id": "run0"}},
        ),
    }
    found = {name: estate.server.ask(*one[:2], **one[2]) for name, one in asked.items()}
    file = FOLDER / "airflow-answers.json"
    if os.environ.get("WHENCE_RECORD"):
        text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
        text = re.sub(r'"file_token": "[^"]*"', '"file_token": "token"', text)
        file.write_text(text.replace(str(estate.home), "/home").replace(str(HERE), "/repo") + "\n", "utf-8")
    recorded = json.loads(file.read_text("utf-8"))
    assert {name: sorted(one) for name, one in found.items()} == {name: sorted(one) for name, one in recorded.items()}
