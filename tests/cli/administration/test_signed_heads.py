"""`whence audit sign` and `prove`: the two logs of an installation, months of signed heads, and somebody who cuts."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update
from typer.testing import CliRunner, Result

from fixtures.logs_of_events import fill
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import open_store, sqlite_url, writing
from whence.store.security.tables import audit, audit_head

Whence = Callable[..., Result]


def body(number: int) -> bytes:
    """An event of one of three environments, with names that a shell, a terminal or JSON may misread."""
    environment, name = ("prod", "staging", "dev")[number % 3], ("orders", '$(x) "é"', "a\nb\x1b[1m")[number // 3 % 3]
    return json.dumps(
        {
            "eventTime": f"2026-11-20T06:{number:02}:00Z",
            "eventType": "COMPLETE",
            "producer": "https://example.org/p",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": f"0190b3a1-7d1e-7b3a-9c55-{number:012}"},
            "job": {"namespace": environment, "name": name},
        }
    ).encode()


BODIES = [body(number) for number in range(40)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a space in its name, and half of the shop's events in its log."""
    directory = tmp_path / "the data"
    fill(SegmentLog(directory / "log"), BODIES[:20])
    return directory


@pytest.fixture
def whence(data: Path) -> Whence:
    """Runs commands in the data directory."""
    runner = CliRunner(
        env={"WHENCE_DATA": str(data), "WHENCE_STORE": None, "WHENCE_SECURITY": None, "WHENCE_LOG": None}
    )
    return lambda *arguments: runner.invoke(app, [str(one) for one in arguments])


@pytest.fixture
def heads(whence: Whence, data: Path, tmp_path: Path) -> Path:
    """A file of two heads, the key being rotated between them. Administrators were at work meanwhile."""
    file = tmp_path / "heads.jsonl"
    assert whence("evidence", "key", "create").exit_code == Exit.OK
    assert whence("keys", "create", "ada", "--role", "admin").exit_code == Exit.OK
    assert signed(whence, file) == {"head": 1, "audit_rows": 1, "new_records": 20}
    fill(SegmentLog(data / "log"), BODIES[20:30])
    assert whence("keys", "create", "airflow", "--role", "writer").exit_code == Exit.OK
    assert whence("evidence", "key", "rotate", "--algorithm", "p256").exit_code == Exit.OK
    assert signed(whence, file) == {"head": 2, "audit_rows": 2, "new_records": 10}
    return file


def signed(whence: Whence, file: Path) -> dict[str, object]:
    done = whence("audit", "sign", file, "--output", "json")
    assert done.exit_code == Exit.OK, done.output
    return {name: value for name, value in json.loads(done.stdout).items() if name != "signed_by"}


def problems(whence: Whence, file: Path, *more: object) -> list[tuple[int, str]]:
    done = whence("audit", "prove", file, *more, "--output", "json")
    document = json.loads(done.stdout)
    assert (done.exit_code == Exit.OK) == document["proven"] == (not document["problems"])
    return [(one["head"], one["problem"]) for one in document["problems"]]


def test_both_logs_are_proven_and_what_came_later_is_in_no_head(whence: Whence, data: Path, heads: Path) -> None:
    fill(SegmentLog(data / "log"), BODIES[30:])
    assert whence("keys", "create", "grace").exit_code == Exit.OK
    done = whence("audit", "prove", heads)
    assert done.exit_code == Exit.OK, done.output
    assert "proven: 30 records of the event log and 2 rows of the audit log are as signed" in done.stdout
    assert "heads: 2, the last of " in done.stdout


def test_whoever_proves_elsewhere_needs_the_public_keys_that_they_trust(
    whence: Whence, heads: Path, tmp_path: Path
) -> None:
    listed = json.loads(whence("evidence", "key", "list", "--output", "json").stdout)["keys"]
    files = [tmp_path / f"{number}.pem" for number in range(len(listed))]
    for file, one in zip(files, listed, strict=True):
        file.write_text(one["pem"])
    assert problems(whence, heads, "--key", files[0], "--key", files[1]) == []
    untrusted = "is not signed by a key that you trust, or was changed after it was signed"
    assert problems(whence, heads, "--key", files[1]) == [(1, untrusted)]


def test_a_cut_audit_log_is_found_which_verify_alone_cannot_see(whence: Whence, data: Path, heads: Path) -> None:
    engine = open_store(sqlite_url(data / "store.security.db"))
    with writing(engine) as connection:
        connection.execute(delete(audit).where(audit.c.number > 1))
        first = connection.execute(select(audit.c.hash)).scalar_one()
        connection.execute(update(audit_head).values(number=1, hash=first))
    engine.dispose()
    assert whence("audit", "verify").exit_code == Exit.OK
    cut = "signed an audit log that differs: row 2 of the audit log is missing: the log was cut"
    assert problems(whence, heads) == [(2, cut)]
    refused = whence("audit", "sign", heads)
    assert (refused.exit_code, "is missing: the log was cut" in refused.stderr) == (Exit.MISTAKE, True)


def test_an_older_copy_of_the_event_log_is_found(whence: Whence, data: Path, heads: Path) -> None:
    shutil.rmtree(data / "log")
    fill(SegmentLog(data / "log"), BODIES[:20])
    ((number, text),) = problems(whence, heads)
    assert number == 2
    assert "so it was cut, or is an older copy" in text
    shown = whence("audit", "prove", heads)
    assert (shown.exit_code, shown.stdout.startswith("not proven: head 2 signed 10 records")) == (Exit.MISTAKE, True)


def test_one_changed_event_is_found_although_its_checksum_is_right(whence: Whence, data: Path, heads: Path) -> None:
    shutil.rmtree(data / "log")
    fill(SegmentLog(data / "log"), [*BODIES[:4], BODIES[4].replace(b"06:04", b"06:05"), *BODIES[5:30]])
    assert {number for number, _ in problems(whence, heads)} >= {1}


def test_mistakes_are_named(whence: Whence, tmp_path: Path, data: Path) -> None:
    file = tmp_path / "heads.jsonl"
    unkeyed = whence("audit", "sign", file)
    assert (unkeyed.exit_code, "run `whence evidence key create`" in unkeyed.stderr) == (Exit.MISTAKE, True)
    assert not file.exists()
    file.write_text("{}\n")
    torn = whence("audit", "prove", file)
    assert (torn.exit_code, "line 1 is no signed head" in torn.stderr) == (Exit.MISTAKE, True)
    file.write_text("")
    empty = whence("audit", "prove", file)
    assert (empty.exit_code, empty.stdout) == (Exit.MISTAKE, "not proven: the file has no signed head\n")


def test_an_installation_that_runs_open_has_no_audit_log(whence: Whence, tmp_path: Path, data: Path) -> None:
    file = tmp_path / "heads.jsonl"
    assert whence("evidence", "key", "create").exit_code == Exit.OK
    assert signed(whence, file) == {"head": 1, "audit_rows": None, "new_records": 20}
    assert problems(whence, file) == []
    assert not (data / "store.security.db").exists()


def test_a_data_directory_without_a_log_is_a_mistake_and_no_cut(whence: Whence, heads: Path, tmp_path: Path) -> None:
    for command in ("prove", "sign"):
        wrong = whence("audit", command, heads, "--log", tmp_path / "none")
        assert wrong.exit_code == Exit.OUT_OF_SERVICE
        assert "there is no event log in" in wrong.stderr
        assert "not proven" not in wrong.stdout
