"""Polls of a tracking server: pages, the cursor, what changes between two polls, and a server that refuses."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from capture.mlflow.replay import Replay, replaying
from capture.mlflow.test_recorded import read_records
from whence.capture.mlflow.records import RunRecord, VersionRecord
from whence.capture.mlflow.source import MlflowServer, capture
from whence.errors import SourceError
from whence_client.captures import Window

RECORDS = read_records()
RUNS = [one for one in RECORDS if isinstance(one, RunRecord)]
VERSIONS = [one for one in RECORDS if isinstance(one, VersionRecord)]


@pytest.fixture
def replay() -> Iterator[Replay]:
    made = Replay(experiments={one.run["info"]["experiment_id"]: one.experiment for one in RUNS})
    made.runs = [one.run for one in RUNS]
    for one in RUNS:
        made.models.update(one.models)
        made.signatures.update(one.signatures)
    made.versions = [dict(one.version) for one in VERSIONS]
    for version in VERSIONS:
        made.aliases.setdefault(str(version.version["name"]), []).extend(
            {"alias": alias, "version": version.version["version"]} for alias in version.aliases
        )
    made.time = max(one.at for one in VERSIONS) + 60_000
    with replaying(made):
        yield made


def server(replay: Replay, **options: str) -> MlflowServer:
    return capture.configure({"uri": replay.url, **options})


def poll(replay: Replay, cursor: Any = None, window: Window | None = None, **options: str) -> tuple[list[Any], Any]:
    found = list(server(replay, **options).records(cursor, window or Window()))
    return [record for record, _ in found], found[-1][1] if found else cursor


def test_a_poll_reads_every_page(replay: Replay) -> None:
    found, _ = poll(replay)
    assert found == RECORDS


def test_a_second_poll_reads_the_overlap_and_no_version_that_is_as_it_was(replay: Replay) -> None:
    _, cursor = poll(replay)
    again, same = poll(replay, cursor)
    ends = [one.run["info"].get("end_time", 0) for one in RUNS]
    within = [one for one in RUNS if one.run["info"].get("end_time", max(ends)) >= max(ends) - 600_000]
    assert again == within
    assert same == cursor


def test_a_change_of_an_alias_is_at_the_time_of_the_poll_and_a_stage_at_its_own(replay: Replay) -> None:
    _, cursor = poll(replay)
    replay.aliases["churn"] = [{"alias": "champion", "version": replay.versions[-1]["version"]}]
    replay.time += 3_600_000
    changed, cursor = poll(replay, cursor)
    states = [one for one in changed if isinstance(one, VersionRecord)]
    assert {one.at for one in states} == {replay.time // 1000 * 1000}
    staged = replay.versions[0]
    staged.update(current_stage="Archived", last_updated_timestamp=staged["last_updated_timestamp"] + 7)
    changed, _ = poll(replay, cursor)
    (state,) = [one for one in changed if isinstance(one, VersionRecord)]
    assert (state.version["current_stage"], state.at) == ("Archived", staged["last_updated_timestamp"])


def test_a_version_that_is_deleted_is_dropped_once(replay: Replay) -> None:
    _, cursor = poll(replay)
    gone = replay.versions.pop()
    changed, cursor = poll(replay, cursor)
    (state,) = [one for one in changed if isinstance(one, VersionRecord)]
    assert (state.version["name"], state.version["version"]) == (gone["name"], gone["version"])
    assert state.is_deleted
    assert not [one for one in poll(replay, cursor)[0] if isinstance(one, VersionRecord)]


def test_experiments_are_chosen_by_their_names(replay: Replay) -> None:
    found, _ = poll(replay, experiments="staging/*, dev/*")
    names = {one.experiment.partition("/")[0] for one in found if isinstance(one, RunRecord)}
    assert names == {"staging", "dev"}
    assert [one for one in poll(replay, experiments="none")[0] if isinstance(one, RunRecord)] == []


def test_a_backfill_reads_its_window_alone(replay: Replay) -> None:
    ends = sorted(one.run["info"]["end_time"] for one in RUNS if "end_time" in one.run["info"])
    since, until = (datetime.fromtimestamp(ends[place] / 1000, UTC) for place in (1, 3))
    found, _ = poll(replay, window=Window(since, until))
    assert [one.run["info"]["end_time"] for one in found if isinstance(one, RunRecord)] == ends[1:3]


def test_a_server_that_refuses_or_is_away_is_named_without_its_password(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay.status = 403
    with pytest.raises(SourceError, match="HTTP 403"):
        poll(replay)
    (problem,) = server(replay).check().problems
    assert problem.startswith(replay.url)
    away = capture.configure({"uri": "http://ada:hush-4711@127.0.0.1:9"})
    assert away.instance == "mlflow://127.0.0.1:9"
    (problem,) = away.check().problems
    assert "hush-4711" not in problem


def test_credentials_are_those_of_mlflow(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "t0ken")
    assert server(replay).check().version == "3.17.2"
    assert replay.authorizations == {"Bearer t0ken"}


@pytest.mark.parametrize("uri", ["", "sqlite:///mlflow.db", "databricks"])
def test_a_store_without_a_server_is_wrong_usage(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(ValueError, match="mlflow server"):
        capture.configure({"uri": uri})
