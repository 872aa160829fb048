"""`whence measurements` and `whence impact` over a store with an Airflow task, its Spark job and measured tables."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from query.questions import test_impact, test_measurements
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.store.connection.engine import sqlite_url


def filled(directory: Path, bodies: list[bytes]) -> Path:
    """A data directory with a store of these events."""
    engine = open_migrated(sqlite_url(directory / "store.db"))
    apply_bodies(engine, bodies)
    engine.dispose()
    return directory


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(
        tmp_path_factory.mktemp("measured"), [json.dumps(event).encode() for event in test_measurements.EVENTS]
    )


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("jobs"), test_impact.BODIES)


def whence(data: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(app, [*arguments, "--data", str(data)])
    assert result.exit_code == Exit.OK, result.output
    return result


def test_measurements_as_text(measured: Path) -> None:
    lines = whence(measured, "measurements", "gold.orders", "--metric", "rowCount").stdout.splitlines()
    assert lines[0] == "gold.orders  measurements"
    assert [line.split()[:4] for line in lines[1:]] == [
        ["1970-01-01T04:00:00", "rowCount", "40", "dataQualityMetrics"],
        ["1970-01-01T03:00:00", "rowCount", "30", "outputStatistics"],
        ["1970-01-01T02:00:00", "rowCount", "7", "dataQualityMetrics"],
        ["1970-01-01T01:00:00", "rowCount", "10", "outputStatistics"],
    ]
    assert lines[2].endswith("by load")
    assert (
        whence(measured, "measurements", "orders", "--metric", "fileCount").stdout.splitlines()[1]
        == "Nothing was measured."
    )


def test_measurements_as_json_and_csv(measured: Path) -> None:
    found = json.loads(whence(measured, "measurements", "gold.orders.total", "-o", "json").stdout)
    assert found["node"] == "datasetField:db:gold.orders:total"
    assert [(one["column"], one["metric"], one["value"], one["job"]) for one in found["measurements"]] == [
        ("total", "max", 9.5, "job:secret:check"),
        ("total", "nullCount", 4, "job:secret:check"),
    ]
    rows = whence(measured, "measurements", "job:spark:load", "-o", "csv").stdout.splitlines()
    assert rows[0] == "time,dataset,column,facet,role,metric,value,run,job"
    assert ",duration,90.5," in rows[-1]


def test_an_impact_lists_jobs_with_their_pipeline_and_last_run(jobs: Path) -> None:
    text = whence(jobs, "impact", "db:raw.amount").stdout
    assert "indirect" in next(line for line in text.splitlines() if "gold.total" in line)
    assert "indirect" not in next(line for line in text.splitlines() if "report.total" in line)
    listed = [line.split() for line in text.splitlines() if line.startswith("job ")]
    assert listed == [
        ["job", "load", "in", "daily.load", "COMPLETE", "1970-01-01T01:00"],
        ["job", "copy", "COMPLETE", "1970-01-01T03:00"],
        ["job", "join", "in", "backfill", "FAIL", "1970-01-01T04:00", "team:money"],
    ]


def test_jobs_of_an_impact_by_kind_owner_and_tag(jobs: Path) -> None:
    for options in (("--owner", "team:money"), ("--tag", "nightly")):
        found = json.loads(whence(jobs, "impact", "db:raw.amount", "--kind", "job", *options, "-o", "json").stdout)
        assert [node["node"] for node in found["nodes"]] == ["job:spark:join"]
        assert found["nodes"][0]["parent"] == "job:airflow:backfill"
        assert found["nodes"][0]["last_run"]["state"] == "FAIL"
