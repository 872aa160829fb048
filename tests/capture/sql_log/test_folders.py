"""A folder of logs as a capture, as the receiver of Trino's events writes them: what is new, file by file."""

import json
import os
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from whence.capture.sql_log.source import QueryLog, capture
from whence_client.captures import Naming, Window

GOLDEN = Path(__file__).with_name("golden") / "trino.json"
FIRST, LATER = 1_769_900_000, 1_800_000_000
"""Times of files, before and after the events."""


@pytest.fixture
def log(tmp_path: Path) -> QueryLog:
    """Two files of events, one that is broken, and one that is hidden."""
    lines = GOLDEN.read_text("utf-8").splitlines()
    write(tmp_path / "2026-02-01" / "a.json", lines[:1], LATER)
    write(tmp_path / "b.json", lines[1:], LATER + 1)
    write(tmp_path / ".b.json.swp", lines, LATER)
    (tmp_path / "c.json.gz").write_bytes(b"no gzip")
    found: QueryLog = capture.configure({"file": str(tmp_path), "format": "trino", "namespace": "trino://t:8080"})
    assert found.check().is_usable
    return found


def write(file: Path, lines: list[str], time: int) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(lines), "utf-8")
    os.utime(file, (time, time))


def poll(log: QueryLog, cursor: Any = None) -> tuple[list[dict[str, Any]], Any, int]:
    """The events of a poll, the cursor after it, and how many parts could not be read."""
    records = list(log.records(cursor, Window()))
    kept = [one for one, _ in records if not hasattr(one, "reason")]
    events = list(chain.from_iterable(log.translate(one, Naming("prod")) for one in kept))
    return events, records[-1][1] if records else cursor, len(records) - len(kept)


def test_all_files_are_read_and_a_broken_one_is_counted(log: QueryLog) -> None:
    whole: QueryLog = capture.configure({"file": str(GOLDEN), "format": "trino", "namespace": "trino://t:8080"})
    events, _, broken = poll(log)
    assert sorted(one["run"]["runId"] for one in events) == sorted(one["run"]["runId"] for one in poll(whole)[0])
    assert broken == poll(whole)[2] + 1


def test_a_file_that_did_not_change_is_not_opened_again(log: QueryLog) -> None:
    _, cursor, _ = poll(log)
    (log.path / "c.json.gz").unlink()
    for file in log.path.rglob("*.json"):
        os.utime(file, (FIRST, FIRST))
    assert poll(log, cursor)[0] == []
    event = json.loads(GOLDEN.read_text("utf-8").splitlines()[0])
    event["metadata"]["queryId"] = "new"
    write(log.path / "d.json", [json.dumps(event)], LATER)
    events, _, _ = poll(log, cursor)
    assert {one["run"]["facets"].get("externalQuery", {}).get("externalQueryId") for one in events} == {None, "new"}
