"""Polls of a Prefect: pages, the cursor, a server that is busy or refuses, and what Prefect has removed."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from capture.prefect.replay import Replay, replaying
from whence.capture.polling.cursors import Cursors
from whence.capture.polling.poll import Polled, Poller
from whence.capture.prefect.events import job_of
from whence.capture.prefect.records import FlowRunRecord
from whence.capture.prefect.source import PrefectServer, capture
from whence.errors import SourceError
from whence_client.captures import Naming, Window
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings


@pytest.fixture
def replay() -> Iterator[Replay]:
    with replaying() as made:
        yield made


def server(replay: Replay, **options: str) -> PrefectServer:
    made: PrefectServer = capture.configure({"url": replay.url, **options})
    made.api.source.pause = lambda seconds: None
    return made


def poll(
    replay: Replay, cursor: Any = None, window: Window | None = None, flows: str = "*"
) -> tuple[list[FlowRunRecord], Any]:
    found = list(server(replay, flows=flows).records(cursor, window or Window()))
    return [record for record, _ in found], found[-1][1] if found else cursor


def ids(records: list[FlowRunRecord]) -> list[str]:
    return [one.run["id"] for one in records]


def save(replay: Replay, tmp_path: Path, **options: str) -> Polled:
    source: Any = server(replay, **options)
    outbox = Outbox(Settings(url="", outbox=str(tmp_path / "outbox")))
    try:
        naming = Naming("prod.prefect", source.instance)
        return Poller(capture=source, outbox=outbox, cursors=Cursors(tmp_path / "cursors"), naming=naming).poll()
    finally:
        outbox.close()


def test_a_poll_reads_every_page_and_each_run_once(replay: Replay) -> None:
    whole, _ = poll(replay)
    for page in (1, 2, 3):
        replay.page = page
        assert poll(replay)[0] == whole
    assert len(ids(whole)) == len(set(ids(whole))) == len(replay.data["flow_runs"])


def test_runs_that_end_at_one_time_are_on_many_pages(replay: Replay) -> None:
    ended = next(one for one in replay.data["flow_runs"] if one["end_time"])
    replay.data["flow_runs"] = [{**ended, "id": f"{number:036}"} for number in range(7)]
    replay.page = 2
    assert len(poll(replay)[0]) == 7


def test_a_second_poll_reads_what_goes_on_and_the_overlap(replay: Replay) -> None:
    whole, cursor = poll(replay)
    found, same = poll(replay, cursor, Window(overlap=timedelta()))
    assert same == cursor
    assert [one.run["state_type"] for one in found] == ["RUNNING", "FAILED"]  # and the one with the latest end
    assert len(poll(replay, cursor, Window(overlap=timedelta(days=1)))[0]) == len(whole)


def test_a_backfill_reads_its_window_and_nothing_that_goes_on(replay: Replay) -> None:
    ends = sorted(datetime.fromisoformat(one["end_time"]) for one in replay.data["flow_runs"] if one["end_time"])
    found, _ = poll(replay, window=Window(ends[1], ends[1]))
    assert [datetime.fromisoformat(one.run["end_time"]) for one in found] == [ends[1]]


def test_flows_are_chosen_by_their_names(replay: Replay) -> None:
    found, _ = poll(replay, flows="prod-daily/*, dev-*")
    assert {job_of(one) for one in found} == {"prod-daily/nightly", "dev-endless"}


def test_a_busy_server_is_tried_again(replay: Replay) -> None:
    whole, _ = poll(replay)
    replay.failures, replay.after = [503, 0, 429], 5
    assert poll(replay)[0] == whole


@pytest.mark.parametrize("path", ["task_runs/filter", "logs/filter", "events/filter", "deployments/", "flows/"])
def test_what_the_user_may_not_read_is_named_and_counted(replay: Replay, tmp_path: Path, path: str) -> None:
    replay.forbidden = path
    done = save(replay, tmp_path)
    what = path.partition("/")[0].replace("_", " ")
    assert (done.problem, done.unread) == ("", 0)
    assert f"this user may not read {what} (HTTP 403)" in done.gaps


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_refuses_ends_the_poll_and_keeps_the_cursor(replay: Replay, tmp_path: Path, status: int) -> None:
    replay.failures = [status] * 9
    done = save(replay, tmp_path)
    assert f"HTTP {status}" in done.problem
    replay.failures = [status] * 9
    assert server(replay).check().problems
    replay.failures = []
    assert save(replay, tmp_path).records == len(replay.data["flow_runs"])


def test_a_run_whose_events_are_removed_says_so(replay: Replay, tmp_path: Path) -> None:
    replay.data["events"] = []
    done = save(replay, tmp_path, flows="staging-daily")
    assert (done.records, done.incomplete) == (1, 1)
    assert done.gaps == ("Prefect has no events of this run any more: which assets it read and wrote is not known",)


def test_an_asset_whose_key_is_no_place_is_named(replay: Replay, tmp_path: Path) -> None:
    done = save(replay, tmp_path, flows="staging-report")
    assert done.gaps == (
        "asset dashboard://staging/top: its key is no URI of a file, table or topic; it is known by its key",
    )


def test_a_flow_that_is_deleted_keeps_its_runs_and_its_name(replay: Replay) -> None:
    before = [job_of(one) for one in poll(replay)[0]]
    replay.data["flows"], replay.data["deployments"] = {}, {}
    replay.data["flow_runs"] = [{**one, "deployment_id": None} for one in replay.data["flow_runs"]]
    assert [job_of(one) for one in poll(replay)[0]] == before


def test_another_release_is_a_doubt(replay: Replay) -> None:
    assert server(replay).check().doubts == ()
    replay.data["version"] = "4.0.1"
    assert "4.0.1" in server(replay).check().doubts[0]


def test_the_address_may_lack_the_path_of_the_api(replay: Replay) -> None:
    assert server(replay, url=replay.url.removesuffix("/api")).check().version == "3.9.1"
    with pytest.raises(SourceError, match="404"):
        list(server(replay, url=replay.url.replace("/api", "/elsewhere")).records(None, Window()))


def test_credentials_of_the_environment_are_sent(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_PREFECT_USER", "ada")
    monkeypatch.setenv("WHENCE_PREFECT_PASSWORD", "pw")
    server(replay).check()
    monkeypatch.setenv("WHENCE_PREFECT_KEY", "pnu_1")
    server(replay).check()
    assert replay.authorizations == {"Basic YWRhOnB3", "Bearer pnu_1"}


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    away = capture.configure({"url": "http://ada:hush-4711@127.0.0.1:9"})
    away.api.source.pause = lambda seconds: None
    assert away.instance == "prefect://127.0.0.1:9/api"
    (problem,) = away.check().problems
    assert "hush-4711" not in problem


@pytest.mark.parametrize("url", ["", "prefect:4200", "file:///prefect.db"])
def test_what_is_no_server_is_wrong_usage(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WHENCE_PREFECT_URL", raising=False)
    with pytest.raises(ValueError, match="set url="):
        capture.configure({"url": url})
