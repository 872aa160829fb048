"""Airflow 3 with the plugin of whence-client: what Python tasks do with pandas, below the tasks' runs.

The lineage that is expected was written from reading the DAG in `airflow_frames_dags`.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from environments import environment
from fixtures.captured_lineage import column_edges, store_events
from fixtures.collectors import collecting
from nightly.mlflow.tracking import ROOT, register_entry_points

HERE = Path(__file__).parent
EDGES = {"raw ü.id -> clean.id", "raw ü.amount -> clean.gross", "clean.id -> report.id", "clean.gross -> report.gross"}
WRITES = {"frames.clean.clean": 1, "frames.report.report": 2}

Event = dict[str, Any]


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """The events of one run of the DAG, of Airflow's provider and of the plugin."""
    home = tmp_path_factory.mktemp("airflow")
    (home / "raw ü.csv").write_text("id,amount\n1,2.5\n2,3.5\n3,4.5\n")
    place = environment("airflow_frames", HERE / "airflow_frames.lock") / "bin"
    with collecting() as collector:
        transport = {"type": "http", "url": collector.url, "endpoint": "api/v1/lineage"}
        settings = {
            "PATH": os.pathsep.join((str(place), os.environ["PATH"])),
            "PYTHONPATH": os.pathsep.join((str(register_entry_points(home)), str(ROOT / "client/src"))),
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(HERE / "airflow_frames_dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__OPENLINEAGE__NAMESPACE": "prod.airflow",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            "WHENCE_OUTBOX": str(home / "outbox"),
            "LAKE": str(home),
        }
        for words in (["db", "migrate"], ["dags", "test", "frames", "2026-11-20"]):
            done = subprocess.run(
                [str(place / "airflow"), *words],
                env={**os.environ, **settings},
                cwd=home,
                capture_output=True,
                text=True,
                check=False,
                timeout=400,
            )
            assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
        return list(collector.events)


def runs_of(events: list[Event], job: str) -> set[str]:
    return {one["run"]["runId"] for one in events if one["job"]["name"] == job}


def test_the_store_has_the_columns_that_the_tasks_say(events: list[Event], sqlite_store: Engine) -> None:
    assert column_edges(store_events(sqlite_store, events)) == EDGES


def test_each_write_is_below_the_run_of_its_try(events: list[Event]) -> None:
    for job, tries in WRITES.items():
        parents = {
            one["run"]["facets"]["parent"]["run"]["runId"]: one["run"]["facets"]["parent"]
            for one in events
            if one["job"]["name"] == job
        }
        task = job.rpartition(".")[0]
        assert parents.keys() == runs_of(events, task)
        assert len(parents) == tries
        assert {one["job"]["name"] for one in parents.values()} == {task}
        assert {one["root"]["run"]["runId"] for one in parents.values()} == runs_of(events, "frames")
    assert {one["job"]["namespace"] for one in events} == {"prod.airflow"}


def test_a_task_without_frames_has_no_events_of_ours(events: list[Event]) -> None:
    assert runs_of(events, "frames.nothing")
    assert not {one["job"]["name"] for one in events if one["job"]["name"].startswith("frames.nothing.")}
