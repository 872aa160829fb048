"""A run that reports an error of its extraction: the graph of what it wrote is not complete, and names the job."""

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
from whence.model.names import DatasetName
from whence.store.connection.engine import sqlite_url

LOST, WHOLE, REPORT = (DatasetName("db", f"mart ü.{one}") for one in ("lost", "whole", "report"))
RAW = DatasetName("db", "raw")
WHY = "load é 1 reports that it does not know all sources, so the trace may end there."


def ran(number: int, reads: DatasetName, writes: DatasetName, **facets: Any) -> bytes:
    event = {
        "eventType": "COMPLETE",
        "eventTime": f"2026-11-29T10:0{number}:00Z",
        "producer": "https://example.org/airflow",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"0190b3a1-0000-7000-8000-00000000000{number}", "facets": facets},
        "job": {"namespace": "staging", "name": f"load é {number}"},
        "inputs": [{"namespace": reads.namespace, "name": reads.name}],
        "outputs": [{"namespace": writes.namespace, "name": writes.name}],
    }
    return json.dumps(event).encode()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    store = sqlite_url(tmp_path / "store.db")
    engine = open_migrated(store)
    error = {"totalTasks": 2, "failedTasks": 1, "errors": [{"errorMessage": "<b>no parser</b>"}]}
    apply_bodies(engine, [ran(1, RAW, LOST, extractionError=error), ran(2, RAW, WHOLE), ran(3, WHOLE, REPORT)])
    engine.dispose()
    with serving(Settings(data=tmp_path / "data", store_url=store, open=True)) as base:
        yield base


def test_it_is_said_of_whole_datasets_with_the_job(screen: Screen) -> None:
    standing = screen.page.locator(".standing")
    screen.open("lineage", node=str(LOST))
    expect(standing).to_contain_text("Incomplete: the lineage of 1 dataset is not fully reported")
    expect(standing).not_to_contain_text("Complete:")
    expect(standing.get_by_title(WHY)).to_have_count(1)
    screen.open("lineage", node=str(WHOLE))
    expect(standing).to_contain_text("Complete:")
    expect(standing).not_to_contain_text("Incomplete")
