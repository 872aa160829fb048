"""Polls: every record becomes its events once in the store, whatever the source, the outbox and the collector do."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.collectors import Collector, collecting
from whence.capture.polling.cursors import Cursors, Progress
from whence.capture.polling.poll import Polled, Poller
from whence_client.captures import POLL, Findings, Naming, Versions, Window
from whence_client.events.runs import COMPLETE, run_event
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings

DAY = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Scheduler:
    """A system whose runs end at minutes, and are written down later, in any order."""

    written: list[tuple[int, str]] = field(default_factory=list)
    fails_at: int | None = None
    instance: str = "scheduler://prod"
    name: str = "scheduler"
    kind: str = POLL
    versions: Versions = field(default_factory=lambda: Versions("1", "2"))
    read: int = 0

    def check(self) -> Findings:
        return Findings("1.5")

    def records(self, cursor: Any, window: Window) -> Iterator[tuple[Any, int]]:
        latest = cursor if cursor is not None else -(10**9)
        first = latest - window.overlap.total_seconds() / 60
        for index, (minute, run) in enumerate(sorted(self.written)):
            at = DAY + timedelta(minutes=minute)
            if minute < first or (window.since and at < window.since) or (window.until and at >= window.until):
                continue
            if index == self.fails_at:
                raise ConnectionError("the scheduler is restarting")
            self.read += 1
            latest = max(latest, minute)
            yield (minute, run), latest

    def translate(self, record: tuple[int, str], naming: Naming) -> Iterator[dict[str, Any]]:
        minute, run = record
        if run == "broken":
            raise KeyError("job")
        at = DAY + timedelta(minutes=minute)
        yield run_event(COMPLETE, naming.run("load", run), at, outputs=[naming.file(f"/data/{run}")])


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


def poller(source: Scheduler, folder: Path, url: str, **options: Any) -> Poller:
    outbox = Outbox(Settings(url=url, outbox=str(folder / "outbox"), exit_seconds=1.0))
    cursors = Cursors(folder / "cursors")
    return Poller(capture=source, outbox=outbox, cursors=cursors, naming=Naming("prod", source.instance), **options)


def poll(source: Scheduler, folder: Path, url: str, **options: Any) -> Polled:
    one = poller(source, folder, url, **options)
    try:
        done = one.poll()
        assert one.outbox.flush(30)
        return done
    finally:
        one.outbox.close()


def runs(collector: Collector) -> set[str]:
    return {one["run"]["runId"] for one in collector.events}


def expected(source: Scheduler) -> set[str]:
    naming = Naming("prod", source.instance)
    return {naming.run("load", run).run_id for _, run in source.written if run != "broken"}


def test_the_second_poll_reads_what_is_new_and_what_came_late(tmp_path: Path, collector: Collector) -> None:
    source = Scheduler([(0, "a"), (60, "b")])
    assert poll(source, tmp_path, collector.url) == Polled(records=2, events=2)
    source.written += [(55, "late"), (120, "c")]
    done = poll(source, tmp_path, collector.url)
    assert done.records == 3
    assert runs(collector) == expected(source)
    (progress,) = Cursors(tmp_path / "cursors")
    assert (progress.cursor, progress.last_event, progress.problem) == (120, "2026-01-01T02:00:00.000000Z", "")


def test_a_source_that_breaks_off_goes_on_where_it_was(tmp_path: Path, collector: Collector) -> None:
    source = Scheduler([(minute * 60, f"r{minute}") for minute in range(5)], fails_at=3)
    assert poll(source, tmp_path, collector.url).problem == "ConnectionError: the scheduler is restarting"
    assert Cursors(tmp_path / "cursors").load("scheduler", source.instance).cursor == 120
    source.fails_at = None
    source.read = 0
    assert poll(source, tmp_path, collector.url).problem == ""
    assert source.read == 3
    assert runs(collector) == expected(source)


def test_a_record_that_is_not_understood_is_counted_and_does_not_stop_the_others(
    tmp_path: Path, collector: Collector
) -> None:
    source = Scheduler([(0, "a"), (1, "broken"), (2, "b")])
    done = poll(source, tmp_path, collector.url)
    assert (done.events, done.unread, done.flaws) == (2, 1, ("KeyError: 'job'",))


def test_the_cursor_waits_while_the_outbox_is_full(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.status = 503
    source = Scheduler([(minute * 60, f"r{minute}") for minute in range(40)])
    one = poller(source, tmp_path, collector.url)
    one.outbox.settings = replace(one.outbox.settings, outbox_bytes=4000)
    monkeypatch.setattr(one.outbox, "flush", lambda seconds=0.0: False)
    done = one.poll()
    assert done.problem == "the collector does not accept events; they wait in the outbox"
    assert 0 < done.records < 40
    assert one.cursors.load("scheduler", source.instance).cursor == (done.records - 1) * 60
    one.outbox.close()
    for thread in threading.enumerate():
        if thread.name == "whence-outbox":  # until it has its answer, the file is not for the next outbox
            thread.join()
    collector.status = 201
    while (again := poll(source, tmp_path, collector.url)).problem:
        assert again.records
    assert collector.wait_for(40)
    assert runs(collector) == expected(source)


def test_a_backfill_has_a_window_a_rate_and_a_cursor_of_its_own(tmp_path: Path, collector: Collector) -> None:
    source = Scheduler([(minute * 60, f"r{minute}") for minute in range(10)])
    poll(source, tmp_path, collector.url)
    pauses: list[float] = []
    window = Window(DAY + timedelta(hours=2), DAY + timedelta(hours=5))
    done = poll(source, tmp_path, collector.url, window=window, rate=4, slot="/x", pause=pauses.append)
    assert (done.records, pauses) == (3, [0.25] * 3)
    assert runs(collector) == expected(source)
    assert Cursors(tmp_path / "cursors").load("scheduler", source.instance).cursor == 540


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(0, 400), max_size=4, unique=True), min_size=1, max_size=5))
def test_no_run_is_lost_that_is_written_within_the_overlap(
    tmp_path_factory: pytest.TempPathFactory, collector: Collector, polls: list[list[int]]
) -> None:
    """The oracle is the list of what was written. Runs older than the overlap are not promised."""
    folder, source, seen = tmp_path_factory.mktemp("poll"), Scheduler(), -1
    collector.events.clear()
    for number, minutes in enumerate(polls):
        on_time = [minute for minute in minutes if minute >= seen - 10]
        source.written += [(minute, f"{number}-{minute}") for minute in on_time]
        seen = max([seen, *on_time])
        poll(source, folder, collector.url)
    assert runs(collector) == expected(source)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"capture": 1, "unknown": 2}'])
def test_a_broken_cursor_begins_anew(tmp_path: Path, content: str) -> None:
    cursors = Cursors(tmp_path)
    cursors.save(Progress(capture="a", instance="b", cursor={"x": [1]}))
    assert cursors.load("a", "b").cursor == {"x": [1]}
    (file,) = tmp_path.iterdir()
    file.write_text(content)
    assert cursors.load("a", "b") == Progress(capture="a", instance="b")
    assert list(cursors) == []


def test_cursors_of_two_sources_are_apart(tmp_path: Path) -> None:
    cursors = Cursors(tmp_path)
    for capture, instance in (("a", "bc"), ("ab", "c"), ("a", "../../b")):
        cursors.save(Progress(capture=capture, instance=instance, cursor=f"{capture}{instance}"))
    assert [cursors.load("a", "bc").cursor, cursors.load("ab", "c").cursor] == ["abc", "abc"]
    assert len(list(cursors)) == len(list(tmp_path.iterdir())) == 3
    assert json.loads(next(tmp_path.iterdir()).read_text())
