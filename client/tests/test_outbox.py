"""The outbox: what is emitted arrives, whatever the collector does, and whatever happens to the process."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from fixtures.collectors import Collector, collecting

from whence_client.events.runs import RunRef, run_event
from whence_client.outbox import Outbox
from whence_client.outbox.delivery import Reply, deliver
from whence_client.outbox.destinations import destination_of
from whence_client.outbox.encoding import encode_event
from whence_client.outbox.spool import Spool, abandoned, new_path
from whence_client.process.settings import Settings

SOURCE = Path(__file__).parents[1] / "src"
AT = datetime(2026, 1, 1, tzinfo=timezone.utc)
JOB = """
import os, signal, sys
from datetime import datetime, timezone
from whence_client.events.runs import RunRef, run_event
from whence_client.outbox import process_outbox

for number in range(int(sys.argv[1])):
    run = RunRef("shop", f"job-{number}", "01941f29-7c00-7abc-8def-000000000001")
    assert process_outbox().emit(run_event("START", run, datetime.now(timezone.utc)))
print("done", flush=True)
if sys.argv[2:] == ["kill"]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def event(state: str = "START", job: str = "load", text: str = "") -> dict[str, Any]:
    run = RunRef("shop", job, "01941f29-7c00-7abc-8def-000000000001")
    return run_event(state, run, AT, run_facets={"note": {"text": text}} if text else None)


def jobs(events: list[dict[str, Any]]) -> list[str]:
    return [one["job"]["name"] for one in events]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


@pytest.fixture
def settings(tmp_path: Path, collector: Collector) -> Settings:
    return Settings(url=collector.url, outbox=str(tmp_path / "outbox"), api_key="k", exit_seconds=0.5, timeout=5.0)


def spools(settings: Settings) -> list[Path]:
    return sorted(Path(settings.outbox).rglob("*.events"))


def run_job(collector: Collector, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    names = {"PYTHONPATH": str(SOURCE), "WHENCE_URL": collector.url, "WHENCE_OUTBOX": str(folder)}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "-c", JOB, *arguments]
    return subprocess.run(command, env={**kept, **names}, capture_output=True, text=True, check=False)


def test_events_arrive_in_order_with_the_key_and_nothing_is_left(settings: Settings, collector: Collector) -> None:
    outbox = Outbox(settings)
    for number in range(1200):
        assert outbox.emit(event(job=f"{number}"))
    assert outbox.flush(30)
    assert jobs(collector.events) == [str(number) for number in range(1200)]
    assert set(collector.keys) == {"Bearer k"}
    assert len(collector.paths) < 20
    assert (outbox.status().sent, outbox.status().waiting) == (1200, 0)
    outbox.close()
    assert spools(settings) == []


def test_a_collector_without_batches_gets_single_events(settings: Settings, collector: Collector) -> None:
    collector.has_batch = False
    outbox = Outbox(settings)
    for number in range(5):
        outbox.emit(event(job=f"{number}"))
    assert outbox.flush(30)
    assert jobs(collector.events) == list("01234")
    outbox.close()


@pytest.mark.parametrize("status", [503, 500, 429, 401, 403])
def test_what_the_collector_does_not_take_is_sent_by_the_next_process(
    settings: Settings, collector: Collector, status: int
) -> None:
    collector.status = status
    first = Outbox(settings)
    first.emit(event(job="first"))
    assert collector.asked.wait(30)
    first.close()
    assert (collector.events, len(spools(settings))) == ([], 1)
    collector.status = 201
    second = Outbox(settings)
    second.emit(event(job="second"))
    assert collector.wait_for(2)
    second.close()
    assert sorted(jobs(collector.events)) == ["first", "second"]
    assert spools(settings) == []


def test_a_hanging_collector_is_left_and_nothing_is_lost(settings: Settings, collector: Collector) -> None:
    collector.status = 0
    outbox = Outbox(settings)
    outbox.emit(event())
    assert collector.asked.wait(30)
    assert outbox.flush(0.01) is False
    outbox.close()
    assert len(spools(settings)) == 1


def test_the_last_events_are_sent_after_a_job_was_quiet(settings: Settings, collector: Collector) -> None:
    outbox = Outbox(settings)
    outbox.emit(event(job="first"))
    assert outbox.flush(30)
    threading.Event().wait(settings.exit_seconds)  # the time that passed is none in which the collector was silent
    outbox.emit(event(job="last"))
    outbox.close()
    assert jobs(collector.events) == ["first", "last"]
    assert not spools(settings)


def test_nobody_listens(tmp_path: Path) -> None:
    outbox = Outbox(Settings(url="http://127.0.0.1:9", outbox=str(tmp_path)))
    assert outbox.emit(event())
    assert outbox.flush(0.2) is False
    assert outbox.status().waiting > 0
    outbox.close()


@pytest.mark.parametrize("url", ["no address", "http://", "ftp://x", "http://[::1", "http://127.0.0.1:99999"])
def test_an_address_that_is_none_raises_nothing(tmp_path: Path, url: str) -> None:
    outbox = Outbox(Settings(url=url, outbox=str(tmp_path), exit_seconds=0.1))
    outbox.emit(event())
    outbox.close()


def test_an_event_that_is_too_large_does_not_stop_the_others_and_is_kept(
    settings: Settings, collector: Collector
) -> None:
    collector.refuses_over = 5000
    outbox = Outbox(settings)
    for job, text in (("a", ""), ("large", "x" * 9000), ("b", "")):
        outbox.emit(event(job=job, text=text))
    assert outbox.flush(30)
    outbox.close()
    assert jobs(collector.events) == ["a", "b"]
    (kept,) = spools(settings)
    assert (kept.parent.name, jobs([json.loads(kept.read_text())])) == ("large", ["large"])


def test_an_event_that_is_refused_does_not_stop_the_others(settings: Settings, collector: Collector) -> None:
    collector.status = 422
    outbox = Outbox(settings)
    outbox.emit(event())
    assert outbox.flush(30)
    assert outbox.status().refused == 1
    outbox.close()


def test_a_key_that_no_header_can_have_is_in_no_message(settings: Settings, collector: Collector) -> None:
    outbox = Outbox(Settings(**{**vars(settings), "api_key": "hush-4711\nis shown only now"}))
    outbox.emit(event())
    assert not outbox.flush(0.3)
    problem = outbox.status().problem
    assert ("line break" in problem, "hush" in problem, collector.events) == (True, False, [])
    outbox.close()


def test_a_full_outbox_drops_the_oldest_running_events_and_reports_it(settings: Settings, collector: Collector) -> None:
    collector.status = 503
    outbox = Outbox(Settings(**{**vars(settings), "outbox_bytes": 20_000}))
    outbox.emit(event("START"))
    assert collector.asked.wait(30)
    kept = [outbox.emit(event("RUNNING", text=f"{number:04d}" + "x" * 400)) for number in range(100)]
    outbox.emit(event("COMPLETE"))
    assert not all(kept)
    collector.status = 201
    assert outbox.flush(30)
    assert outbox.flush(30)
    outbox.close()
    states = [one["eventType"] for one in collector.events]
    assert states[0] == "START"
    assert 0 < states.count("RUNNING") < 100
    reports = [one["run"]["facets"] for one in collector.events if one["eventType"] == "OTHER"]
    lost = sum(one["whence_lostEvents"]["count"] for one in reports)
    assert lost + states.count("RUNNING") + states.count("COMPLETE") == 101
    assert all("outbox was full" in one["extractionError"]["errors"][0]["errorMessage"] for one in reports)


def test_compaction_drops_running_events_first_and_the_oldest_of_them(tmp_path: Path) -> None:
    spool = Spool(new_path(str(tmp_path)))
    lines = [json.dumps({"eventType": state, "n": n}).encode() for n, state in enumerate(["START", *["RUNNING"] * 8])]
    for line in lines:
        spool.append(line)
    dropped: list[bytes] = []
    spool.compact(200, dropped.append)
    left = [json.loads(line)["n"] for line in spool.read(1 << 20, 100)]
    assert left[0] == 0
    assert [json.loads(line)["n"] for line in dropped] == [n for n in range(9) if n not in left]
    assert left[1:] == list(range(9 - len(left) + 1, 9))
    assert spool.waiting <= 150
    spool.close()


def test_killing_the_process_loses_nothing(tmp_path: Path, settings: Settings, collector: Collector) -> None:
    collector.status = 503
    done = run_job(collector, tmp_path / "outbox", "50", "kill")
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "done\n")
    collector.status = 201
    outbox = Outbox(settings)
    outbox.emit(event(job="next"))
    assert collector.wait_for(51)
    outbox.close()
    assert sorted(jobs(collector.events)) == sorted(["next", *(f"job-{number}" for number in range(50))])
    assert spools(settings) == []


def leave_events(settings: Settings, *names: str) -> None:
    """Files of ended processes, one event each, in the folder of the collector."""
    folder = destination_of(settings).make_folder()
    for name in names:
        spool = Spool(new_path(folder))
        spool.append(encode_event(event(job=name)))
        spool.close()


def test_a_flush_waits_for_the_events_of_ended_processes(settings: Settings, collector: Collector) -> None:
    """A process that emits and ends at once would leave them to the next one, and so would that one."""
    names = [f"left-{number}" for number in range(20)]
    leave_events(settings, *names)
    outbox = Outbox(settings)
    outbox.emit(event(job="own"))
    assert outbox.flush(30)
    assert jobs(collector.events) == ["own", *names]
    outbox.close()
    assert spools(settings) == []


def test_events_of_ended_processes_are_tried_again_without_news(
    settings: Settings, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses = iter([201, 503, 201, 503])
    answer = collector.answer

    def answer_in_turn(path: str, body: bytes, key: str) -> int:
        collector.status = next(statuses, 201)
        return answer(path, body, key)

    monkeypatch.setattr(collector, "answer", answer_in_turn)
    leave_events(settings, "left-1", "left-2")
    outbox = Outbox(settings)
    outbox.emit(event(job="own"))
    assert outbox.flush(30)
    assert (jobs(collector.events), outbox.status().problem) == (["own", "left-1", "left-2"], "")
    outbox.close()


@pytest.mark.parametrize("status", [201, 503, 413, 0])
def test_the_job_ends_as_without_it(tmp_path: Path, collector: Collector, status: int) -> None:
    collector.status = status
    done = run_job(collector, tmp_path / "outbox", "3")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert len(collector.events) == (3 if status == 201 else 0)


def test_a_torn_line_is_no_event(tmp_path: Path) -> None:
    path = tmp_path / "1.events"
    path.write_bytes(b'{"a": 1}\n{"b": ')
    (spool,) = abandoned(str(tmp_path))
    assert spool.read(1 << 20, 10) == [b'{"a": 1}\n']
    spool.acknowledge(9)
    assert spool.read(1 << 20, 10) == []
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_a_line_longer_than_a_read_is_read_whole(tmp_path: Path) -> None:
    spool = Spool(new_path(str(tmp_path)))
    spool.append(b"x" * 5000)
    assert spool.read(100, 10) == [b"x" * 5000 + b"\n"]
    spool.close()


def test_a_file_belongs_to_one_process(tmp_path: Path) -> None:
    spool = Spool(new_path(str(tmp_path)))
    spool.append(b"{}")
    assert list(abandoned(str(tmp_path))) == []
    spool.close()
    (found,) = abandoned(str(tmp_path))
    found.close()


def test_many_threads(settings: Settings, collector: Collector) -> None:
    outbox = Outbox(settings)

    def emit_some(name: str) -> None:
        for number in range(50):
            outbox.emit(event(job=f"{name}-{number}"))

    threads = [threading.Thread(target=emit_some, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outbox.flush(30)
    outbox.close()
    assert len(set(jobs(collector.events))) == len(collector.events) == 400


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_an_outbox_of_its_own(settings: Settings, collector: Collector) -> None:
    outbox = Outbox(settings)
    outbox.emit(event(job="parent"))
    child = os.fork()
    if child == 0:
        outbox.emit(event(job="child"))
        os._exit(0 if outbox.flush(30) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    outbox.emit(event(job="parent again"))
    assert outbox.flush(30)
    outbox.close()
    assert sorted(jobs(collector.events)) == ["child", "parent", "parent again"]


def test_no_secret_reaches_the_disk_or_the_collector(settings: Settings, collector: Collector) -> None:
    collector.status = 503
    outbox = Outbox(settings)
    outbox.emit(
        event(job="postgres://bob:hunter2@db/x", text="password=hunter2 https://b.example/x?sig=hunter2hunter2")
    )
    assert collector.asked.wait(30)
    (spool,) = spools(settings)
    assert b"hunter2" not in spool.read_bytes()
    collector.status = 201
    assert outbox.flush(30)
    outbox.close()
    assert b"hunter2" not in b"".join(collector.bodies)
    assert collector.events


def test_values_that_json_does_not_have(settings: Settings, collector: Collector) -> None:
    outbox = Outbox(settings)
    facets = {"x": {"nan": float("nan"), "path": Path("/a"), 1: {2}, "raw": "a\udc80\x00\nb"}}
    assert outbox.emit({**event(), "run": {"runId": "1", "facets": facets}})
    assert outbox.flush(30)
    outbox.close()
    (arrived,) = collector.events
    assert arrived["run"]["facets"]["x"] == {"nan": None, "path": "/a", "1": [2], "raw": "a?\x00\nb"}


def test_console_is_one_line_an_event(capsys: pytest.CaptureFixture[str]) -> None:
    outbox = Outbox(Settings(transport="console"))
    assert outbox.emit(event(text="a\nb"))
    assert outbox.flush(0)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["job"]["name"] == "load"


def test_a_folder_that_cannot_be_made(tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    outbox = Outbox(Settings(url=collector.url, outbox=str(tmp_path / "file" / "outbox")))
    assert outbox.emit(event())
    assert outbox.flush(30)
    outbox.close()
    assert jobs(collector.events) == ["load"]


@pytest.mark.parametrize(
    ("replies", "taken", "problem"),
    [
        ([Reply(503)], 0, "status 503: "),
        ([Reply(404), Reply(201), Reply(500)], 1, "status 500: "),
        ([Reply(413), Reply(201), Reply(201)], 2, ""),
        ([Reply(200, b'{"failed_events": [{"index": 0, "reason": "no"}]}')], 2, ""),
        ([Reply(200, b"[1]")], 2, ""),
        ([Reply(0, reason="away")], 0, "away"),
    ],
)
def test_deliveries(replies: list[Reply], taken: int, problem: str) -> None:
    answers = iter(replies)
    done = deliver([b"{}\n", b"{}\n"], lambda _path, _body: next(answers))
    assert (done.taken, done.problem) == (taken, problem)
    assert next(answers, None) is None
