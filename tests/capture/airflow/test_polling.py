"""Polls of an Airflow: pages, the cursor, tokens, a server that is busy, goes away or refuses, and deleted DAGs."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from capture.airflow.replay import Replay, replaying
from whence.capture.airflow.records import DagRunRecord
from whence.capture.airflow.source import AirflowServer, capture
from whence.capture.polling.cursors import Cursors
from whence.capture.polling.poll import Poller
from whence.errors import SourceError
from whence_client.captures import Naming, Window
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings


@pytest.fixture
def replay() -> Iterator[Replay]:
    with replaying() as made:
        yield made


@pytest.fixture
def pauses() -> list[float]:
    return []


def server(replay: Replay, pauses: list[float] | None = None, **options: str) -> AirflowServer:
    made: AirflowServer = capture.configure({"url": replay.url, **options})
    made.api.source.pause = (pauses if pauses is not None else []).append
    return made


def poll(
    replay: Replay, cursor: Any = None, window: Window | None = None, dags: str = "*"
) -> tuple[list[DagRunRecord], Any]:
    found = list(server(replay, dags=dags).records(cursor, window or Window()))
    return [record for record, _ in found], found[-1][1] if found else cursor


def names(records: list[DagRunRecord]) -> list[tuple[str, str]]:
    return [(one.run["dag_id"], one.run["dag_run_id"]) for one in records]


def test_a_poll_reads_every_page_and_each_run_once(replay: Replay) -> None:
    replay.page = 1000
    whole, _ = poll(replay)
    for page in (1, 2, 3):
        replay.page = page
        assert poll(replay)[0] == whole
    assert len(names(whole)) == len(set(names(whole))) == len(replay.runs)


def test_runs_that_end_at_one_time_are_on_many_pages(replay: Replay) -> None:
    (ended, *_) = [one for one in replay.runs if one["end_date"]]
    replay.runs = [{**ended, "dag_run_id": f"run {number}"} for number in range(7)]
    assert len(poll(replay)[0]) == 7


def test_a_run_that_vanishes_between_two_pages_hides_no_other(replay: Replay) -> None:
    (ended, *_) = [one for one in replay.runs if one["end_date"]]
    at = datetime.fromisoformat(ended["end_date"])
    made = [{**ended, "dag_run_id": f"{n}", "end_date": (at + timedelta(hours=n)).isoformat()} for n in range(6)]
    replay.runs = made
    found = []
    for record, _ in server(replay).records(None, Window()):
        found.append(record.run["dag_run_id"])
        replay.runs = [one for one in made if one["dag_run_id"] != "0"]  # somebody clears the first one
    assert sorted(found) == [str(number) for number in range(6)]


def test_a_second_poll_reads_what_goes_on_and_the_overlap(replay: Replay) -> None:
    _, cursor = poll(replay)
    (running,) = [one for one in replay.runs if one["end_date"] is None]
    found, same = poll(replay, cursor, Window(overlap=timedelta()))
    assert (running["dag_id"], running["dag_run_id"]) in names(found)
    assert same == cursor
    assert len(found) == 2  # and the one with the latest end
    assert len(poll(replay, cursor, Window(overlap=timedelta(days=1)))[0]) == len(replay.runs)


def test_a_run_that_ended_late_by_another_clock_is_within_the_overlap(replay: Replay) -> None:
    _, cursor = poll(replay)
    (running,) = [one for one in replay.runs if one["end_date"] is None]
    at = datetime.fromisoformat(cursor["ended"]) - timedelta(minutes=3)
    replay.runs = [
        {**one, "state": "failed", "end_date": at.isoformat()} if one is running else one for one in replay.runs
    ]
    assert (running["dag_id"], running["dag_run_id"]) in names(poll(replay, cursor)[0])


def test_a_backfill_reads_its_window_and_nothing_that_goes_on(replay: Replay) -> None:
    ends = sorted(datetime.fromisoformat(one["end_date"]) for one in replay.runs if one["end_date"])
    found, _ = poll(replay, window=Window(ends[1], ends[1]))
    assert [datetime.fromisoformat(one.run["end_date"]) for one in found] == [ends[1]]


def test_dags_are_chosen_by_their_names(replay: Replay) -> None:
    found, _ = poll(replay, dags="staging.*, dev.*")
    assert {dag.partition(".")[0] for dag, _ in names(found)} == {"staging", "dev"}


def test_a_busy_server_is_asked_again(replay: Replay, pauses: list[float]) -> None:
    whole, _ = poll(replay)
    replay.failures, replay.after = [503, 0, 429], 5
    found = [record for record, _ in server(replay, pauses).records(None, Window())]
    assert found == whole
    assert len(pauses) == 3


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/prod.orders", "the DAG"),
        ("/tasks", "tasks"),
        ("/taskInstances", "task instances"),
        ("/tries", "tries"),
        ("/logs/1", "logs"),
        ("/assets", "assets"),
        ("/assets/events", "asset events"),
        ("/eventLogs", "the audit log"),
    ],
)
def test_what_the_user_may_not_read_is_named_and_counted(replay: Replay, tmp_path: Path, path: str, what: str) -> None:
    replay.forbidden = path
    source: Any = server(replay, dags="prod.orders")
    (record,) = [one for one, _ in source.records(None, Window())]
    assert record.refused == (what,)
    outbox = Outbox(Settings(url="", outbox=str(tmp_path / "outbox")))
    try:
        naming = Naming("prod.airflow", source.instance)
        done = Poller(capture=source, outbox=outbox, cursors=Cursors(tmp_path / "cursors"), naming=naming).poll()
    finally:
        outbox.close()
    assert (done.records, done.incomplete, done.problem) == (1, 1, "")
    assert done.gaps == (f"this user may not read {what} (HTTP 403)",)


def test_what_is_refused_of_one_dag_is_no_gap_of_another(replay: Replay) -> None:
    replay.forbidden = "/prod.orders/tasks"
    refused = {one.run["dag_id"]: one.refused for one in poll(replay)[0]}
    assert refused.pop("prod.orders") == ("tasks",)
    assert set(refused.values()) == {()}


def test_a_server_that_goes_away_half_way_keeps_what_was_read(replay: Replay, tmp_path: Path) -> None:
    whole = names(poll(replay)[0])
    source: Any = server(replay)
    outbox = Outbox(Settings(url="", outbox=str(tmp_path / "outbox")))
    cursors, naming = Cursors(tmp_path / "cursors"), Naming("prod.airflow", source.instance)
    try:
        poller = Poller(capture=source, outbox=outbox, cursors=cursors, naming=naming)
        replay.page, replay.after = 1, len(replay.asked) * 2 // 3
        replay.failures = [502] * 100
        done = poller.poll()
        assert 0 < done.records < len(whole)
        assert "HTTP 502" in done.problem
        assert "dag" in done.problem  # the page that failed
        replay.failures = []
        rest = poller.poll()
        assert rest.problem == ""
        assert rest.unread == 0
    finally:
        outbox.close()


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_refuses_says_why(replay: Replay, status: int) -> None:
    replay.failures = [status] * 9
    with pytest.raises(SourceError, match=f"HTTP {status}"):
        poll(replay)
    assert server(replay).check().problems


def test_an_answer_that_is_no_json_is_a_problem_of_its_page(replay: Replay) -> None:
    replay.answers["dags/~/dagRuns"] = {"dag_runs": "<html>", "total_entries": "many"}
    replay.answers["version"] = {}
    assert server(replay).check().version == ""


def test_a_token_is_for_the_user_and_renewed_when_it_ends(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_AIRFLOW_USER", "ada")
    monkeypatch.setenv("WHENCE_AIRFLOW_PASSWORD", "pw")
    whole = len(poll(replay)[0])
    assert replay.tokens == 1
    found = []
    for record, _ in server(replay).records(None, Window()):
        found.append(record)
        replay.token = f"t0ken-{len(found)}"
    assert len(found) == whole
    assert replay.tokens > 2


def test_a_token_of_the_environment_is_sent(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_AIRFLOW_TOKEN", "mine")
    assert server(replay).check().version == "3.3.2"
    assert replay.authorizations == {"Bearer mine"}


def test_a_dag_that_is_deleted_keeps_its_runs(replay: Replay) -> None:
    for key in [one for one in replay.answers if one.startswith(("dags/prod.orders", "assets"))]:
        if key == "dags/prod.orders" or key.endswith("prod.orders/tasks"):
            del replay.answers[key]
    (record,) = poll(replay, dags="prod.orders")[0]
    assert (record.dag, record.tasks) == ({}, {})
    events = list(capture.translate(record, Naming("prod.airflow", "airflow://airflow:8080")))
    assert {one["eventType"] for one in events} == {"START", "COMPLETE", "FAIL"}


def test_a_run_without_any_date_or_start_has_no_events(replay: Replay) -> None:
    (record, *_) = poll(replay)[0]
    naming = Naming("prod.airflow", "airflow://airflow:8080")
    undated = replace(record, run={**record.run, "logical_date": None, "run_after": None})
    assert list(capture.translate(undated, naming)) == []
    queued = replace(record, run={**record.run, "state": "queued", "start_date": None, "end_date": None}, tries=())
    assert list(capture.translate(queued, naming)) == []


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    away = capture.configure({"url": "http://ada:hush-4711@127.0.0.1:9"})
    away.api.source.pause = lambda seconds: None
    assert away.instance == "airflow://127.0.0.1:9"
    (problem,) = away.check().problems
    assert "hush-4711" not in problem


@pytest.mark.parametrize("url", ["", "airflow:8080", "file:///airflow.db"])
def test_what_is_no_server_is_wrong_usage(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHENCE_AIRFLOW_URL", raising=False)
    with pytest.raises(ValueError, match="set url="):
        capture.configure({"url": url})
