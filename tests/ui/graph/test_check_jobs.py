"""Jobs that only check data: in the picture, in the list, and apart from what a change affects."""

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
from whence.log.segments.log import SegmentLog
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event
from whence.store.connection.engine import sqlite_url

ORDERS, REVENUE = (
    DatasetName("snowflake://acme", "shop.raw.orders"),
    DatasetName("snowflake://acme", "shop.gold.revenue"),
)
HOSTILE = "dbt_<img src=x onerror=alert(1)>_" + "not_null" * 9


def ran(job: str, number: int, reads: list[dict[str, Any]], *writes: DatasetName) -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("prod", job))
    outputs = [dataset(one) for one in writes]
    return json.dumps(run_event(number * 10**12, RunState.COMPLETE, run, inputs=reads, outputs=outputs)).encode()


def checked(name: DatasetName) -> dict[str, Any]:
    results = facet("DataQualityAssertionsDatasetFacet", assertions=[{"assertion": "not_null", "success": True}])
    return dataset(name, inputFacets={"dataQualityAssertions": results})


BODIES = [
    ran("build_revenue", 1, [dataset(ORDERS)], REVENUE),
    ran("soda_scan", 2, [checked(ORDERS), checked(REVENUE)]),
    ran(HOSTILE, 3, [checked(REVENUE)]),
    ran("export_to_crm", 4, [dataset(REVENUE)]),
]


@pytest.fixture(scope="module")
def served_checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An API over a dataset of which another one is made, and the jobs that check both."""
    base: Path = tmp_path_factory.mktemp("checks")
    SegmentLog(base / "data" / "log").open_writer().close()
    engine = open_migrated(store := sqlite_url(base / "store.db"))
    apply_bodies(engine, BODIES)
    engine.dispose()
    with serving(Settings(data=base / "data", store_url=store, open=True)) as address:
        yield address


@pytest.fixture
def shop(screen: Screen, served_checks: str) -> Screen:
    screen.base = served_checks
    return screen


def test_a_job_that_only_checks_is_marked(shop: Screen) -> None:
    shop.open("lineage", node=str(REVENUE))
    boxes = shop.page.locator(".react-flow__node-box")
    expect(boxes).to_have_count(5)
    expect(boxes.filter(has_text="only checks")).to_have_count(2)
    expect(boxes.filter(has_text="export_to_crm")).not_to_contain_text("only checks")
    shop.open("lineage", node=str(REVENUE), view="list")
    rows = shop.page.get_by_role("table").get_by_role("row")
    expect(rows.filter(has_text="only checks")).to_have_count(2)


def test_an_impact_lists_them_apart(shop: Screen) -> None:
    shop.open("lineage", node=str(REVENUE), panel="impact")
    panel = shop.page.get_by_role("complementary", name="Impact")
    expect(panel).to_contain_text("1 affected")
    checks = panel.locator("section").filter(has=shop.page.get_by_role("heading", name="2 jobs only check this data"))
    expect(checks.get_by_role("listitem")).to_have_count(2)
    expect(checks).not_to_contain_text("export_to_crm")
    shop.open("lineage", node=str(ORDERS), panel="impact")
    expect(panel).to_contain_text("2 affected")
    expect(checks.get_by_role("listitem")).to_have_count(2)
