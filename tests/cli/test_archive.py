"""Archiving and rebuilding at the terminal."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from fixtures.received_events import FIRST, HOUR, append, hourly, segments
from whence.cli.commands.app import app
from whence.query.answers.instants import iso

THEN = iso(FIRST + 60 * HOUR)


@pytest.fixture
def data(spark: SparkSession, tmp_path: Path) -> Path:
    """A data directory whose log has several segments. The commands find the session that there is."""
    append(segments(tmp_path / "log", 300_000), hourly(120))
    return tmp_path


def whence(*arguments: object) -> Result:
    return CliRunner(env={"WHENCE_DATA": None, "WHENCE_STORE": None}).invoke(app, [str(one) for one in arguments])


def dumped(data: Path) -> list[str]:
    return whence("dump", "--data", data).stdout.splitlines()


def test_what_is_archived_is_dropped_and_comes_back(data: Path) -> None:
    assert whence("rebuild", "--data", data).exit_code == 0
    before = dumped(data)
    done = whence("archive", "--data", data, "--drop-segments", "-o", "json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["records"], report["archive"]) == (120, str(data / "archive"))
    assert report["dropped_segments"] == list(range(1, len(report["dropped_segments"]) + 1))
    assert len(report["dropped_segments"]) > 1
    assert whence("rebuild", "--data", data, "--into", data / "again").exit_code == 0
    assert dumped(data / "again") == before
    text = whence("archive", "--data", data).stdout
    assert text.splitlines()[0] == f"archived nothing new, at {data / 'archive'}"


def test_the_past_is_built_elsewhere(data: Path) -> None:
    refused = whence("rebuild", "--data", data, "--as-of", THEN)
    assert refused.exit_code == 2
    assert "--as-of needs --into" in refused.stderr
    then = whence("rebuild", "--data", data, "--as-of", THEN, "--into", data / "then")
    assert then.exit_code == 0, then.output
    found = dumped(data / "then")
    assert whence("rebuild", "--data", data, "--into", data / "now").exit_code == 0
    assert 0 < len(found) < len(dumped(data / "now"))
    again = whence("rebuild", "--data", data, "--as-of", THEN, "--into", data / "then")
    assert again.exit_code == 4
    assert "--into needs a new or empty store" in again.stderr
    assert dumped(data / "then") == found


def test_a_topic_drops_its_records_itself(data: Path) -> None:
    assert whence("rebuild", "--data", data).exit_code == 0
    refused = whence("archive", "--data", data, "--log", "kafka://127.0.0.1:1/events", "--drop-segments")
    assert refused.exit_code == 4
    assert "retention.ms" in refused.stderr
