"""The captures of a task, with a real pandas. tests/nightly/producers/airflow_frames.py runs the plugin in Airflow."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from client.tests.frames.sessions import Kept

from whence_client.airflow.tasks import DESTINATIONS, TaskCaptures, destination_variables
from whence_client.events.runs import RunRef
from whence_client.process.parent import PARENT, parse_parent

DAG = RunRef("prod.airflow", "daily", "01941f29-7c00-7abc-8def-000000000001")
FIRST, SECOND = (
    RunRef("prod.airflow", "daily.größe/1", f"01941f29-7c00-7abc-8def-00000000000{number}", DAG) for number in (2, 3)
)


@pytest.fixture
def session() -> Kept:
    return Kept()


@pytest.fixture
def captures(session: Kept) -> Iterator[TaskCaptures]:
    made = TaskCaptures(session)
    yield made
    made.end()


@pytest.fixture(autouse=True)
def no_destination(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in DESTINATIONS:
        monkeypatch.delenv(name, raising=False)


def copy(folder: Path, name: str) -> None:
    (folder / "raw.csv").write_text("id\n1\n")
    pd.read_csv(folder / "raw.csv").to_csv(folder / name, index=False)


def parent_of(event: Any) -> tuple[str, str]:
    facet = event["run"]["facets"]["parent"]
    return facet["run"]["runId"], facet["root"]["run"]["runId"]


def test_a_write_in_a_task_is_below_its_run_and_that_of_the_dag(
    captures: TaskCaptures, session: Kept, tmp_path: Path
) -> None:
    captures.begin(FIRST, {})
    copy(tmp_path, "first.csv")
    captures.begin(SECOND, {})  # a task that ended without a word
    copy(tmp_path, "second.csv")
    captures.end()
    copy(tmp_path, "nobody.csv")
    assert [parent_of(one) for one in session.events] == [(one.run_id, DAG.run_id) for one in (FIRST, SECOND)]


def test_pandas_and_the_environment_are_as_before(captures: TaskCaptures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "mine")
    writer, variables = pd.DataFrame.to_csv, dict(os.environ)
    captures.begin(FIRST, {"OPENLINEAGE_NAMESPACE": "airflow", "OPENLINEAGE__TRANSPORT": "{}"})
    assert pd.DataFrame.to_csv is not writer
    assert os.environ["OPENLINEAGE_NAMESPACE"] == "mine"
    assert os.environ["OPENLINEAGE__TRANSPORT"] == "{}"
    assert parse_parent(os.environ[PARENT]) == RunRef(FIRST.namespace, FIRST.job, FIRST.run_id)
    captures.end()
    assert pd.DataFrame.to_csv is writer
    assert dict(os.environ) == variables


def test_events_go_where_airflow_sends_its_own_unless_a_variable_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transport = {"type": "http", "url": "http://whence:8080"}
    found = destination_variables(transport, "prod", '{"type": "http"}')
    assert found == {"OPENLINEAGE__TRANSPORT": '{"type": "http"}', "OPENLINEAGE_NAMESPACE": "prod"}
    assert destination_variables({}, "prod", "{}") == {"OPENLINEAGE_NAMESPACE": "prod"}
    monkeypatch.setenv("WHENCE_URL", "http://elsewhere")
    assert destination_variables(transport, "prod", '{"type": "http"}') == {"OPENLINEAGE_NAMESPACE": "prod"}
