"""Retention, the end of jobs, backup and restore at the terminal."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from api.process import Serving
from fixtures.received_events import append, hourly, segments
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit

OLD = ("--runs", "1d", "--keep", 1, "--history", "1d")
"""The events are older than that."""


def whence(*arguments: object) -> Result:
    return CliRunner(env={"WHENCE_DATA": None, "WHENCE_STORE": None}).invoke(app, [str(one) for one in arguments])


def answered(*arguments: object) -> str:
    done = whence(*arguments)
    assert done.exit_code == Exit.OK, done.output
    return done.stdout


def totals(data: Path) -> str:
    return answered("ledger", "--data", data).splitlines()[0]


@pytest.fixture(scope="module")
def filled(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a log, an archive and a store."""
    directory = tmp_path_factory.mktemp("filled")
    append(segments(directory / "log", 300_000), hourly(200))
    answered("rebuild", "--data", directory)
    answered("archive", "--data", directory, "--drop-segments")
    return directory


@pytest.fixture
def data(filled: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(filled, tmp_path / "data"))


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    made = Serving(tmp_path)
    yield made
    made.end()


def test_what_is_planned_is_deleted(data: Path, tmp_path: Path) -> None:
    before = totals(data)
    plan = json.loads(answered("retention", "plan", "--data", data, *OLD, "-v", "-o", "json"))
    assert plan["rows"]["run"] == len(plan["keys"]["run"]) > 20
    text = answered("retention", "plan", "--data", data, *OLD, "--verbose")
    assert f"{sum(plan['rows'].values()):,}  rows to delete" in text
    assert text.count("\nrun ") == plan["rows"]["run"]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    done = json.loads(answered("retention", "apply", "--data", data, "--plan", tmp_path / "plan.json", "-o", "json"))
    assert done["deleted"] == plan["rows"]
    assert totals(data) == before
    refused = whence("retention", "apply", "--data", data, "--plan", tmp_path / "plan.json")
    assert (refused.exit_code, refused.stdout) == (Exit.MISTAKE, "")
    assert "the store has changed" in refused.stderr
    assert "0  rows deleted" in answered("retention", "apply", "--data", data, *OLD, "--shrink")


def test_days_of_the_archive_go_and_a_rebuild_is_refused_then(data: Path, tmp_path: Path) -> None:
    plan = json.loads(answered("retention", "plan", "--data", data, "--raw", "1d", "-o", "json"))
    days = plan["raw_days"]
    assert len(days) > 3
    assert sum(day["records"] for day in days) == 200
    assert f"raw records of {days[0]['day']}" in answered("retention", "plan", "--data", data, "--raw", "1d")
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    done = answered("retention", "apply", "--data", data, "--plan", tmp_path / "plan.json", "-o", "json")
    assert json.loads(done)["raw_days"] == days
    assert json.loads(answered("retention", "plan", "--data", data, "--raw", "1d", "-o", "json"))["raw_days"] == []
    refused = whence("rebuild", "--data", data)
    assert (refused.exit_code, refused.stdout) == (Exit.OUT_OF_SERVICE, "")
    assert "restore a backup" in refused.stderr


def test_a_file_that_is_no_plan_is_told(data: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    refused = whence("retention", "apply", "--data", data, "--plan", tmp_path / "plan.json")
    assert refused.exit_code == Exit.MISTAKE
    assert "is not a plan" in refused.stderr
    assert whence("retention", "plan", "--data", data, "--runs", "soon").exit_code == Exit.USAGE


def test_jobs_that_were_not_seen_are_ended_by_an_event(data: Path, serving: Serving) -> None:
    stale = json.loads(answered("retention", "plan", "--data", data, "-o", "json"))["stale_jobs"]
    assert len(stale) > 10
    assert f"stale {stale[0]['job']}" in answered("retention", "plan", "--data", data)
    api = serving()
    url = f"http://127.0.0.1:{api.port}"
    one = json.loads(
        answered("decommission", stale[0]["job"], "--reason", "replaced", "--data", data, "--url", url, "-o", "json")
    )
    assert [sent["job"] for sent in one["decommissioned"]] == [stale[0]["job"]]
    many = answered("decommission", "--unseen-for", 3, "--data", data, "--url", url)
    assert many.splitlines() == [f"decommissioned {job['job']}" for job in stale]
    facets = [json.loads(record.payload)["job"]["facets"]["whence_lifecycle"] for record in api.records()]
    assert [facet["state"] for facet in facets] == ["DECOMMISSIONED"] * (len(stale) + 1)
    assert [facet["reason"] for facet in facets[:2]] == ["replaced", "not seen for 3 of its periods"]
    assert whence("decommission", "--data", data, "--url", url).exit_code == Exit.USAGE
    dataset = whence("decommission", "dataset:s3://landing:crm/order", "--data", data, "--url", url)
    assert dataset.exit_code == Exit.MISTAKE


def test_a_backup_is_restored_on_an_empty_machine(data: Path, tmp_path: Path) -> None:
    text = answered("backup", tmp_path / "backup", "--data", data)
    assert text.startswith(f"backed up to {tmp_path / 'backup'}: ")
    assert f"restored from {tmp_path / 'backup'}" in answered(
        "restore", tmp_path / "backup", "--data", tmp_path / "new"
    )
    for command in ("dump", "ledger"):
        assert answered(command, "--data", tmp_path / "new") == answered(command, "--data", data)
    answered("rebuild", "--data", tmp_path / "new")
    assert answered("dump", "--data", tmp_path / "new") == answered("dump", "--data", data)
    again = whence("restore", tmp_path / "backup", "--data", tmp_path / "new")
    assert again.exit_code == Exit.MISTAKE
    assert "is not empty" in again.stderr
