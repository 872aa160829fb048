"""A job without lineage names the jobs that are named after it: those of a script, a DAG, a notebook."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from ui.conftest import Screen, serving
from whence.api.settings import Settings
from whence.model.names import JobName
from whence.store.connection.engine import sqlite_url

NOTICE = "Below it: load <é>.kafka. Open these jobs: they report what it reads and writes."


def ran(job: str, *inputs: str) -> bytes:
    event: dict[str, Any] = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "01900000-0000-7000-8000-000000000001"},
        "job": {"namespace": "shop", "name": job},
        "inputs": [{"namespace": "db", "name": one} for one in inputs],
        "outputs": [],
    }
    return json.dumps(event).encode()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    store = sqlite_url(tmp_path / "store.db")
    engine = open_migrated(store)
    apply_bodies(engine, [ran("load <é>"), ran("load <é>.kafka", "raw"), ran("loader"), ran("alone")])
    engine.dispose()
    with serving(Settings(data=tmp_path / "data", store_url=store, open=True)) as base:
        yield base


def test_a_job_without_lineage_names_the_jobs_below_it(screen: Screen) -> None:
    standing = screen.page.locator(".standing")
    screen.open("lineage", node=str(JobName("shop", "alone")))
    expect(standing).to_contain_text("Complete:")
    expect(standing).not_to_contain_text("Below it")
    expect(screen.page.locator(".legend")).to_be_hidden()
    screen.open("lineage", node=str(JobName("shop", "load <é>.kafka")))
    expect(standing).to_contain_text("Complete:")
    expect(standing).not_to_contain_text("Below it")
    expect(screen.page.locator(".legend")).to_contain_text("Values flow")
    screen.open("node", node=str(JobName("shop", "load <é>")))
    expect(screen.page.get_by_text(NOTICE)).to_have_count(2)
    screen.open("lineage", node=str(JobName("shop", "load <é>")))
    expect(standing).to_contain_text(NOTICE)
    standing.get_by_role("link", name="load <é>.kafka").click()
    expect(screen.page.locator('[data-node="dataset:db:raw"]')).to_be_visible()
