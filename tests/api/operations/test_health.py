"""Health that tells the truth, and waiting for the store to have what was sent."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine, delete, insert

from api.collector.test_collect import event
from api.process import Api, Serving
from whence.log import Position
from whence.store.connection.engine import writing
from whence.store.schema.tables import progress
from whence.store.status.periodic_jobs import LastRun, record_run

Migrated = Callable[[Api], Engine]


def applied(engine: Engine, position: Position) -> None:
    """Do what the pipeline does at the end of a batch."""
    with writing(engine) as connection:
        connection.execute(delete(progress))
        connection.execute(insert(progress).values(name="log", position=position.as_int))


def end(api: Api) -> Position:
    return Position.parse(api.ask("GET", "/api/v2/progress").json["head"])


def test_live_needs_nothing_ready_needs_the_store(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    assert api.ask("GET", "/health/live").json == {"status": "live"}
    ready = api.ask("GET", "/health/ready")
    assert ready.status == 503
    assert {name: check["ok"] for name, check in ready.json["checks"].items()} == {
        "log": True,
        "store": False,
        "pipeline": True,
    }
    migrated(api)
    ready = api.ask("GET", "/health/ready")
    assert (ready.status, ready.json["status"]) == (200, "ready")


def test_ready_counts_what_came(serving: Serving) -> None:
    api = serving()
    body = event()
    for sent in (body, body, event(run={})):
        api.post(sent)
    assert api.ask("GET", "/health/ready").json["counts"] == {"events": 1, "duplicates": 1, "quarantined": 1}


def test_a_pipeline_that_does_not_move_is_not_ready(serving: Serving, migrated: Migrated) -> None:
    api = serving(stale_seconds=0.0)
    engine = migrated(api)
    assert api.ask("GET", "/health/ready").status == 200
    api.post(event())
    ready = api.ask("GET", "/health/ready")
    assert ready.status == 503
    assert "not yet applied" in ready.json["checks"]["pipeline"]["detail"]
    applied(engine, end(api))
    assert api.ask("GET", "/health/ready").status == 200


def test_a_supervisor_that_says_the_pipeline_is_down_is_believed(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    migrated(api)
    run_file = api.data / "run" / "whence.json"
    run_file.parent.mkdir()
    for pipeline, status in (({"ready": False, "detail": "exited with 1"}, 503), ({"ready": True}, 200)):
        run_file.write_text(json.dumps({"pipeline": pipeline}))
        assert api.ask("GET", "/health/ready").status == status


def test_progress_says_how_far_the_store_is(serving: Serving, migrated: Migrated) -> None:
    api = serving(stale_seconds=0.0)
    engine = migrated(api)
    first = Position.parse(api.post(event()).json["position"])
    second = Position.parse(api.post(event()).json["position"])
    asked = f"/api/v2/progress?timeout=0&wait_for={first}"
    assert api.ask("GET", asked).json == {"position": "1:16", "head": str(end(api)), "reached": False}
    applied(engine, first)
    assert api.ask("GET", asked).json["reached"] is False, "before its position is not past it"
    applied(engine, second)
    assert api.ask("GET", asked).json["reached"] is True
    assert api.ask("GET", "/api/v2/progress?timeout=0&wait_for=head").json["reached"] is False
    applied(engine, end(api))
    assert api.ask("GET", "/api/v2/progress?wait_for=head").json["reached"] is True
    assert api.ask("GET", f"/api/v2/progress?timeout=0&wait_for={first},{second}").json["reached"] is True
    assert api.ask("GET", "/health/ready").status == 200


def test_a_wait_ends_when_the_store_gets_there(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    engine = migrated(api)
    position = api.post(event()).json["position"]
    asking = threading.Semaphore(0)

    def wait(_: int) -> bool:
        asking.release()
        return bool(api.ask("GET", f"/api/v2/progress?timeout=25&wait_for={position}").json["reached"])

    with ThreadPoolExecutor(20) as threads:
        waiting = [threads.submit(wait, number) for number in range(20)]
        for _ in waiting:
            asking.acquire()
        assert not any(task.done() for task in waiting)
        assert api.post(event()).status == 201, "waiting holds nobody up"
        applied(engine, end(api))
        assert all(task.result() for task in waiting)


def test_a_wait_does_not_hold_up_the_end_of_the_process(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    migrated(api)
    position = api.post(event()).json["position"]
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(api.ask, "GET", f"/api/v2/progress?timeout=300&wait_for={position}")
        assert api.post(event()).status == 201
        api.down()
        assert waiting.exception(20) is not None


def test_a_scheduled_job_that_fails_is_told_but_harms_nothing(serving: Serving, migrated: Migrated) -> None:
    api = serving()
    engine = migrated(api)
    assert api.ask("GET", "/health/ready").json["scheduled"] == {}
    record_run(engine, LastRun("blast", 1_763_000_000_000_000, 1_763_000_001_500_000, ""))
    record_run(engine, LastRun("other", 0, 0, "ValueError: no luck"))
    ready = api.ask("GET", "/health/ready")
    assert ready.status == 200
    assert ready.json["scheduled"] == {
        "blast": {"ok": True, "detail": "ended at 2025-11-13T02:13:21.500000Z after 1.5 s"},
        "other": {"ok": False, "detail": "failed at 1970-01-01T00:00:00Z: ValueError: no luck"},
    }
