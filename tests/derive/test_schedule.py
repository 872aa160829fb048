"""The schedule: when a job is due, and that a failing one harms neither the others nor the stream."""

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.spark import periodic_jobs as schedule
from whence.derive.spark.periodic_jobs import Periodic, Schedule, is_due
from whence.store.status.periodic_jobs import LastRun, read_runs, record_run

JOB = Periodic(name="job", every=600, run=lambda *_: True)
SECOND = 1_000_000
PATIENCE = 240


def last(started: int) -> LastRun:
    return LastRun("job", started * SECOND, (started + 1) * SECOND, "")


def test_a_job_is_due_when_its_period_is_over() -> None:
    assert is_due(JOB, None, 0)
    assert not is_due(JOB, last(1_000), 1_599 * SECOND)
    assert is_due(JOB, last(1_000), 1_600 * SECOND)


def test_a_clock_that_was_set_back_stops_no_job() -> None:
    assert is_due(JOB, last(1_000), 10 * SECOND)


def test_jobs_run_on_spark_beside_each_other_and_are_remembered(
    spark: SparkSession, store: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(schedule, "LOOK_SECONDS", 0.01)
    ran, asked_again, counted = Event(), Event(), []

    def fail(*_: object) -> bool:
        raise ValueError("no luck\nat all")

    def count(session: SparkSession, _: Engine) -> bool:
        counted.append(session.range(7).count())
        ran.set()
        return True

    def idle(*_: object) -> bool:
        if ran.is_set():
            asked_again.set()
        return False

    jobs = [Periodic(name=run.__name__, every=3_600, run=run) for run in (fail, count, idle)]
    beside = Schedule(spark, store, jobs)
    with caplog.at_level(logging.ERROR):
        beside.start()
        assert asked_again.wait(PATIENCE)
        beside.stop(PATIENCE)
    assert counted == [7]
    assert {name: one.failure for name, one in read_runs(store).items()} == {"fail": "ValueError: no luck", "count": ""}
    assert "the scheduled job fail failed" in caplog.text


def setting(event: Event) -> Callable[[SparkSession, Engine], bool]:
    """A job that sets an event."""

    def run(spark: SparkSession, engine: Engine) -> bool:
        event.set()
        return True

    return run


def test_a_job_that_ran_before_a_restart_waits_for_its_time(
    spark: SparkSession, store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "LOOK_SECONDS", 0.01)
    now = schedule._now()
    record_run(store, LastRun("early", now, now, ""))
    ran, early = Event(), Event()
    jobs = [
        Periodic(name="early", every=3_600, run=setting(early)),
        Periodic(name="late", every=3_600, run=setting(ran)),
    ]
    beside = Schedule(spark, store, jobs)
    beside.start()
    assert ran.wait(PATIENCE)
    beside.stop(PATIENCE)
    assert not early.is_set()


def test_stopping_breaks_off_what_runs(
    spark: SparkSession, store: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(schedule, "LOOK_SECONDS", 0.01)
    began = tmp_path / "began"
    os.mkfifo(began)

    def hang(session: SparkSession, _: Engine) -> bool:
        def forever(batches: Iterator[Any]) -> Iterator[Any]:
            began.write_text("yes")
            Event().wait()
            yield from batches

        session.range(0, 1, 1, 1).mapInArrow(forever, "id bigint").count()
        return True

    beside = Schedule(spark, store, [Periodic(name="hang", every=1, run=hang)])
    beside.start()
    assert began.read_text() == "yes"
    beside.stop(PATIENCE)
    assert not beside._thread.is_alive()
    assert read_runs(store) == {}
    assert spark.range(3).count() == 3
