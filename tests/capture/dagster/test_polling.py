"""Polls of a Dagster: pages, the cursor, errors of the server, GraphQL and code locations, deleted runs, reports."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from capture.dagster.replay import Replay, replaying
from whence.capture.dagster.records import Record, ReportRecord, RunRecord
from whence.capture.dagster.source import DagsterServer, capture
from whence.capture.polling.cursors import Cursors
from whence.capture.polling.poll import Polled, Poller
from whence.errors import SourceError
from whence_client.captures import Naming, Window
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings


@pytest.fixture
def replay() -> Iterator[Replay]:
    with replaying() as made:
        yield made


def server(replay: Replay, **options: str) -> DagsterServer:
    made: DagsterServer = capture.configure({"url": replay.url, **options})
    made.api.source.pause = lambda seconds: None
    return made


def poll(replay: Replay, cursor: Any = None, window: Window | None = None, **options: str) -> tuple[list[Record], Any]:
    found = list(server(replay, **options).records(cursor, window or Window()))
    return [record for record, _ in found], found[-1][1] if found else cursor


def names(records: list[Record]) -> list[str]:
    return [one.run["runId"] if isinstance(one, RunRecord) else f"report {one.event['timestamp']}" for one in records]


def save(replay: Replay, tmp_path: Path, **options: str) -> Polled:
    source: Any = server(replay, **options)
    outbox = Outbox(Settings(url="", outbox=str(tmp_path / "outbox")))
    try:
        naming = Naming("prod.dagster", source.instance)
        return Poller(capture=source, outbox=outbox, cursors=Cursors(tmp_path / "cursors"), naming=naming).poll()
    finally:
        outbox.close()


def test_a_poll_reads_every_page_and_each_run_once(replay: Replay) -> None:
    whole, _ = poll(replay)
    for page in (1, 2, 3):
        replay.page = page
        assert poll(replay)[0] == whole
    assert len(names(whole)) == len(set(names(whole))) == len(replay.runs) + 1


@pytest.mark.parametrize("page", [1, 2, 4])
def test_a_run_that_is_deleted_between_two_pages_hides_no_other(
    replay: Replay, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    replay.page = page
    last = replay.runs[-page]
    kept = {one["runId"] for one in replay.runs if one is not last}
    answer = replay._runs

    def delete_after_first(**asked: Any) -> dict[str, Any]:
        found = answer(**asked)
        replay.runs = [one for one in replay.runs if one is not last]
        return found

    monkeypatch.setattr(replay, "_runs", delete_after_first)  # somebody deletes a run while they are listed
    listed = server(replay).api.updated(0, None)
    assert kept <= {one["runId"] for one in listed}


def test_a_second_poll_reads_what_goes_on_and_the_overlap(replay: Replay) -> None:
    whole, cursor = poll(replay)
    running = [one["runId"] for one in replay.runs if one["status"] == "STARTED"]
    found, same = poll(replay, cursor, Window(overlap=timedelta()))
    assert [one for one in names(found) if not one.startswith("report")] == running
    assert same == cursor
    assert len(poll(replay, cursor, Window(overlap=timedelta(days=1)))[0]) == len(whole)


def test_a_run_that_changes_after_the_cursor_is_read_again(replay: Replay) -> None:
    _, cursor = poll(replay)
    first = replay.runs[0]
    replay.runs = [{**first, "updateTime": cursor["updated"] - 60}, *replay.runs[1:]]
    assert first["runId"] in names(poll(replay, cursor)[0])


def test_a_backfill_reads_its_window_and_nothing_that_goes_on(replay: Replay) -> None:
    times = sorted(one["updateTime"] for one in replay.runs if one["endTime"])
    first, last = (datetime.fromtimestamp(at, UTC) for at in (times[1] - 0.01, times[1] + 0.01))
    found, _ = poll(replay, window=Window(first, last))
    assert [one.run["updateTime"] for one in found if isinstance(one, RunRecord)] == [times[1]]
    assert not [one for one in found if isinstance(one, ReportRecord)]


def test_jobs_are_chosen_by_their_names(replay: Replay) -> None:
    found, _ = poll(replay, jobs="shop.staging_*, lab.*")
    jobs = {one.run["jobName"] for one in found if isinstance(one, RunRecord)}
    assert jobs == {"staging_daily", "__ASSET_JOB"}
    assert len(found) == 2
    (report,) = poll(replay, jobs="reported.*")[0]
    assert isinstance(report, ReportRecord)


def test_a_busy_server_is_asked_again(replay: Replay) -> None:
    whole, _ = poll(replay)
    replay.failures, replay.after = [503, 0, 429], 5
    assert poll(replay)[0] == whole


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_refuses_ends_the_poll_and_keeps_the_cursor(replay: Replay, tmp_path: Path, status: int) -> None:
    whole = len(poll(replay)[0])
    replay.after, replay.failures = 9, [status] * 200
    done = save(replay, tmp_path)
    assert 0 < done.records < whole
    assert f"HTTP {status}" in done.problem
    assert server(replay).check().problems
    replay.failures = []
    rest = save(replay, tmp_path)
    assert (rest.problem, rest.unread) == ("", 0)
    assert done.records + rest.records >= whole


@pytest.mark.parametrize("operation", ["runs", "assets", "locations", "history"])
@pytest.mark.parametrize("kind", ["error", "type"])
def test_a_list_that_graphql_refuses_ends_the_poll(replay: Replay, tmp_path: Path, operation: str, kind: str) -> None:
    if kind == "error":
        replay.errors[operation] = "Cannot query field"
    else:
        replay.refused[operation] = "UnauthorizedError"
    done = save(replay, tmp_path)
    assert "Cannot query field" in done.problem or "UnauthorizedError: not for you" in done.problem
    replay.errors.clear()
    replay.refused.clear()
    assert save(replay, tmp_path).problem == ""


@pytest.mark.parametrize("operation", ["run", "log", "describe"])
def test_what_graphql_refuses_of_a_run_is_named_and_counted(replay: Replay, tmp_path: Path, operation: str) -> None:
    replay.refused[operation] = "PythonError"
    done = save(replay, tmp_path, jobs="shop.staging_daily")
    assert (done.records, done.incomplete, done.problem) == (1, 1, "")
    (gap,) = [one for one in done.gaps if "not for you" in one]
    assert gap.startswith("run ")


def test_an_asset_without_a_place_is_named_and_counted(replay: Replay, tmp_path: Path) -> None:
    done = save(replay, tmp_path, jobs="shop.staging_daily")
    assert done.incomplete == 1
    (gap,) = done.gaps
    assert gap.startswith("asset staging/report: neither dagster/uri")


def test_a_code_location_that_is_not_loaded_is_named(replay: Replay, tmp_path: Path) -> None:
    broken = {"__typename": "PythonError", "message": "SyntaxError: shop.py\nline 3"}
    replay.data["locations"] = [{"name": "shop", "locationOrLoadError": broken}]
    replay.data["assets"] = [{**one, "definition": None} for one in replay.data["assets"]]
    done = save(replay, tmp_path, jobs="shop.staging_daily")
    assert any("code location shop is not loaded" in one and "SyntaxError" in one for one in done.gaps)
    assert "SyntaxError" in "".join(server(replay).check().doubts)


def test_another_release_is_a_doubt(replay: Replay) -> None:
    assert server(replay).check().doubts == ()
    replay.data["version"] = "2.0.1"
    assert "2.0.1" in server(replay).check().doubts[0]


def test_a_server_that_is_no_dagster_is_a_problem(replay: Replay) -> None:
    assert server(replay, url=f"{replay.url}/elsewhere").check().problems
    with pytest.raises(SourceError, match="404"):
        poll(replay, url=f"{replay.url}/elsewhere")


def test_a_password_of_the_environment_is_sent(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_DAGSTER_USER", "ada")
    monkeypatch.setenv("WHENCE_DAGSTER_PASSWORD", "pw")
    assert server(replay).check().version == "1.13.27"
    assert replay.authorizations == {"Basic YWRhOnB3"}


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    away = capture.configure({"url": "http://ada:hush-4711@127.0.0.1:9"})
    away.api.source.pause = lambda seconds: None
    assert away.instance == "dagster://127.0.0.1:9"
    (problem,) = away.check().problems
    assert "hush-4711" not in problem


@pytest.mark.parametrize("options", [{"url": ""}, {"url": "dagster:3000"}, {"url": "http://d", "databases": "shop"}])
def test_what_is_missing_is_wrong_usage(options: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHENCE_DAGSTER_URL", raising=False)
    with pytest.raises(ValueError, match="set "):
        capture.configure(options)
