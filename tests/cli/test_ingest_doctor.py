"""Sending files and probes to a real API."""

import gzip
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import insert

from api.collector.test_collect import event
from api.process import Api, Serving
from fixtures.migrated_stores import open_migrated
from fixtures.waits import wait_until
from whence.cli.client import Client
from whence.cli.output.streams import Exit, Output
from whence.cli.sending.doctor import doctor
from whence.cli.sending.ingest import Ingested, ingest
from whence.cli.sending.reports import show_ingested
from whence.errors import ApiError
from whence.govern.api_keys import create_key
from whence.log import Kind, Position
from whence.log.segments.write import SegmentWriter
from whence.model.access import SCOPES, Grant, Role
from whence.store.connection.engine import sqlite_url, writing
from whence.store.schema.tables import progress
from whence.store.security.audit import AuditFilter, read_audit
from whence.store.security.database import open_security, read_security, write_security
from whence.store.security.grants import add_grant


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    made = Serving(tmp_path)
    yield made
    made.end()


def url(api: Api) -> str:
    return f"http://127.0.0.1:{api.port}"


def kinds(api: Api) -> list[Kind]:
    return [record.kind for record in api.records()]


def test_every_form_of_file_is_read(serving: Serving, tmp_path: Path) -> None:
    files = tmp_path / "files"
    (files / "deep").mkdir(parents=True)
    (files / "one.json").write_text(json.dumps(event(), indent=2))
    (files / "array.json").write_text(json.dumps([event(), event()]))
    (files / "lines.json").write_text("\n".join(json.dumps(event()) for _ in range(3)))
    (files / "deep" / "lines.jsonl").write_text("\n\n".join(json.dumps(event()) for _ in range(1200)) + "\n")
    (files / "deep" / "packed.ndjson.gz").write_bytes(gzip.compress(json.dumps(event()).encode()))
    (files / "notes.txt").write_text("not an event")
    api = serving()
    seen: list[Ingested] = []
    done = ingest([files], url(api), report=seen.append)
    assert (done.files, done.events, done.accepted, done.failures) == (5, 1207, 1207, ())
    assert kinds(api) == [Kind.EVENT] * 1207
    assert done.position == str(api.records()[-1].position)
    assert [one.events for one in seen] == sorted(one.events for one in seen)
    assert str(done).startswith("1207 of 1207 events accepted from 5 files")

    again = ingest([files], url(api))
    assert again.accepted == 1207
    assert set(kinds(api)[1207:]) == {Kind.RECEIPT}


def test_failures_are_named_by_their_place_and_stop_nothing(serving: Serving, tmp_path: Path) -> None:
    lines = [json.dumps(event()), '{"run": ', json.dumps(event(run={})), json.dumps(event()), "17"]
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(lines))
    api = serving()
    done = ingest([path], url(api))
    assert done.accepted == 2
    assert [failure.place for failure in done.failures] == [f"{path}:2", f"{path}:3", f"{path}:5"]
    assert "JSON" in done.failures[0].reason
    assert "/run/runId" in done.failures[1].reason
    assert sorted(kinds(api)) == [Kind.EVENT] * 2 + [Kind.QUARANTINED] * 3


def test_a_refused_batch_is_sent_one_by_one(serving: Serving, tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    path.write_text("\n".join(json.dumps(event(producer="x" * size)) for size in (10, 60_000, 10, 10)))
    api = serving(max_body_bytes=50_000)
    done = ingest([path], url(api))
    assert (done.accepted, [failure.place for failure in done.failures]) == (3, [f"{path}:2"])


def test_what_is_withheld_of_events_is_said(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    security = sqlite_url(tmp_path / "security.db")
    engine = open_security(security)
    with write_security(engine) as connection:
        monkeypatch.setenv("WHENCE_API_KEY", create_key(connection, "ci", SCOPES, 0).text)
        add_grant(connection, "key:ci", Grant(Role.WRITER, "test"))
    engine.dispose()
    described = {"namespace": "s3://lake", "name": "b", "facets": {"documentation": {"description": "mine"}}}
    lines = [event(), event(outputs=[described]), event(outputs=[described]), event()]
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    alone = tmp_path / "one.json"
    alone.write_text(json.dumps(event(outputs=[described])))
    api = serving(open=False, security_url=security)
    done = ingest([path, alone], url(api))
    assert (done.accepted, done.restricted) == (5, 3)
    lacking = "not applied: 1 assertion; the sender may not write in 's3://lake'"
    assert done.withheld == f"{path}:2: {lacking}"
    assert show_ingested(done, Output.TEXT) is Exit.OK
    *_, notice = capsys.readouterr().out.split("\n3 of them ")
    assert " ".join(notice.split()).startswith("assert what their sender may not (whence access grant); the first: ")
    engine = open_security(security)
    api.down()
    with read_security(engine) as connection:
        written = [one for _, one in read_audit(connection, AuditFilter()) if one.action == "write"]
    engine.dispose()
    assert {one.nodes for one in written} == {("test", lacking)}


def test_a_busy_log_is_waited_for(serving: Serving, tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event()))
    api = serving()
    api.down()
    other = SegmentWriter(api.data / "log")
    api.up()
    with ThreadPoolExecutor(1) as threads:
        sending = threads.submit(ingest, [path], url(api))
        wait_until(
            lambda: api.ask("GET", "/health/ready").json["counts"].get("unavailable"), lambda: not sending.done()
        )
        other.close()
        assert sending.result(20).accepted == 1


def test_nobody_there_is_an_error_that_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = Client(f"127.0.0.1:{port}", patience=0)
    with pytest.raises(ApiError, match="nothing listens there; is `whence up` running"):
        client.get("/health/live")
    client.close()


def pipeline(api: Api) -> Callable[[str], None]:
    """Stands in for the pipeline: says that the store has everything up to a position."""
    engine = open_migrated(api.store_url)

    def apply(position: str) -> None:
        place = Position.parse(position)
        with writing(engine) as connection:
            connection.execute(insert(progress).values(name="log", position=place.as_int + 1))
        engine.dispose()

    return apply


def test_doctor_follows_its_probe_to_the_store(serving: Serving) -> None:
    api = serving()
    apply = pipeline(api)
    with ThreadPoolExecutor(1) as threads:
        probing = threads.submit(doctor, url(api), timeout=20)
        wait_until(api.records, lambda: not probing.done())
        apply(str(api.records()[0].position))
        diagnosis = probing.result()
    assert diagnosis.ok
    assert [station.name for station in diagnosis.stations] == ["reach", "log", "store", "pipeline", "accept", "derive"]
    assert diagnosis.position == str(api.records()[0].position)
    assert "on disk, at position 1:16" in str(diagnosis)


def test_doctor_says_where_it_stops(serving: Serving) -> None:
    api = serving()
    pipeline(api)
    diagnosis = doctor(url(api), timeout=0)
    assert not diagnosis.ok
    assert [station.name for station in diagnosis.stations if not station.ok] == ["derive"]
    assert "does not have it" in str(diagnosis)
