"""A job without lineage names the jobs of its parts: those of a script, a DAG, a notebook."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.migrations.migrate import migrate


def ran(job: str, inputs: tuple[str, ...] = (), namespace: str = "shop") -> bytes:
    event: dict[str, Any] = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "p",
        "schemaURL": "s",
        "run": {"runId": "01900000-0000-7000-8000-000000000001"},
        "job": {"namespace": namespace, "name": job},
        "inputs": [{"namespace": "db", "name": one} for one in inputs],
        "outputs": [],
    }
    return json.dumps(event).encode()


@pytest.fixture
def data(tmp_path: Path) -> str:
    engine = open_store(sqlite_url(tmp_path / "store.db"))
    migrate(engine)
    jobs = [ran("load"), ran("load.kafka", ("raw",)), ran("load#1"), ran("loader"), ran("load.x", namespace="other")]
    apply_bodies(engine, [*jobs, ran("alone"), ran("busy", ("raw",)), ran("busy.part", ("raw",))])
    engine.dispose()
    return str(tmp_path)


def answer(data: str, *words: str) -> str:
    found = CliRunner().invoke(app, [*words, "--data", data])
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.mark.parametrize("direction", ["upstream", "downstream"])
def test_a_job_without_lineage_names_the_jobs_below_it(data: str, direction: str) -> None:
    (line,) = [one for one in answer(data, direction, "job:shop:load").splitlines() if one.startswith("Below it: ")]
    named, _, advice = line.removeprefix("Below it: ").partition(". Ask")
    assert set(named.split(", ")) == {"load.kafka", "load#1"}
    assert advice


@pytest.mark.parametrize("job", ["alone", "busy", "load.kafka"])
def test_a_job_with_lineage_or_without_parts_does_not(data: str, job: str) -> None:
    assert "Below it" not in answer(data, "upstream", f"job:shop:{job}")


def test_json_is_as_the_api_has_it(data: str) -> None:
    assert "Below" not in answer(data, "upstream", "job:shop:load", "--output", "json")
