"""A LookML project with three connections, broken and old files; its lineage was written before the capture was run."""

import json
import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.bi.expected import found_lines, read_expected
from fixtures.captured_lineage import dataset_edges, store_events
from whence.capture.bi.lookml.source import LookmlFolder, capture
from whence.capture.bi.reports import Found
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window

HERE = Path(__file__).parent
SALES = "dashboards/sales.dashboard.lookml"
NOW = datetime(2030, 1, 1, tzinfo=UTC)
Json = dict[str, Any]


def open_project(folder: Path, **options: str) -> LookmlFolder:
    return capture.configure({"folder": str(folder), "connections": str(HERE / "connections.yaml"), **options})


@pytest.fixture(scope="module")
def found() -> Found:
    return open_project(HERE / "shop").read()


@pytest.fixture
def project(tmp_path: Path) -> LookmlFolder:
    """A copy to change, with a clock that goes on at each look."""
    shutil.copytree(HERE / "shop", tmp_path / "shop ü")
    times = (NOW + timedelta(seconds=number) for number in range(1000))
    made = open_project(tmp_path / "shop ü")
    return LookmlFolder(folder=made.folder, connections=made.connections, clock=lambda: next(times))


def read(project: LookmlFolder, cursor: Any = None) -> tuple[list[Json], Any]:
    """The events of what changed since a cursor, and the cursor behind them."""
    records = list(project.records(cursor, Window()))
    naming = Naming("bi", project.instance)
    events = list(chain.from_iterable(project.translate(record, naming) for record, _ in records))
    return events, records[-1][1] if records else cursor


def declared(events: list[Json]) -> Iterator[tuple[str, Json]]:
    for event in events:
        if "dataset" in event:
            yield event["dataset"]["name"], event["dataset"]["facets"]


def ended(events: list[Json]) -> set[str]:
    return {name for name, facets in declared(events) if "lifecycleStateChange" in facets}


def gaps(events: list[Json]) -> str:
    (run,) = [one for one in events if "run" in one]
    return json.dumps(run["run"]["facets"].get("extractionError", {}), ensure_ascii=False)


def test_charts_have_the_lineage_that_the_files_say(found: Found) -> None:
    assert found_lines(found.reports) == read_expected(HERE / "edges.txt")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("views/latin.view.lkml", "cannot be read"),
        ("views/broken.view.lkml", "ends inside a block"),
        ("views/twice.view.lkml", "a block ends twice on line 1"),
        ("views/ancient.view.lookml", "old YAML syntax"),
        ("dashboards/broken.dashboard.lookml", "no YAML"),
        ("models/shop_staging.model.lkml: include //block/missing.view", "imported project"),
        ("models/shop_staging.model.lkml: +ghost", "not included before it"),
        (f"{SALES}: unknowable: 1", "orders.chosen: Liquid decides it when the query runs"),
        (f"{SALES}: unknowable: 2", "_user_attributes"),
        (f"{SALES}: unknowable: 3", "made of itself"),
        (f"{SALES}: unknowable: 4", "no field nothing"),
        (f"{SALES}: saved: 1", "saved Look"),
        ("dashboards/staging.dashboard.lookml: nowhere: 1", "connection not_mapped"),
        ("dashboards/staging.dashboard.lookml: orphan", "extends missing"),
    ],
)
def test_what_cannot_be_known_is_named(found: Found, place: str, reason: str) -> None:
    assert reason in found.gaps[place]


def test_nothing_else_is_announced(found: Found) -> None:
    assert len(found.gaps) == 14


def test_events_are_valid_and_have_no_secret(project: LookmlFolder) -> None:
    events, _ = read(project)
    for event in events:
        require_valid(event)
    assert "hush-4711" not in json.dumps(events)
    facets = dict(declared(events))["dashboards/shop_prod::sales"]
    assert facets["datasetType"]["datasetType"] == "DASHBOARD"
    assert facets["whence_report"]["title"] == 'Sales "today" / ü'


def test_the_store_has_the_dashboard_behind_the_table(project: LookmlFolder, sqlite_store: Engine) -> None:
    events, _ = read(project)
    once = store_events(sqlite_store, events)
    assert {
        "shop.sales.users -> shop_prod::sales/friends",
        "shop_prod::sales/friends -> dashboards/shop_prod::sales",
        "STAGE.RAW.Orders -> shop_staging::sales/revenue",
    } <= dataset_edges(once)
    twice = [*events, *read(project)[0]]
    random.Random(10).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_only_what_changed_is_said_again(project: LookmlFolder) -> None:
    _, cursor = read(project)
    assert read(project, cursor)[0] == []
    path = project.folder / SALES
    path.write_text(path.read_text("utf-8").replace("fields: [referrers.name, referrers.count]", "fields: [users.id]"))
    events, _ = read(project, cursor)
    assert [name for name, _ in declared(events)] == ["charts/shop_prod::sales/friends", "dashboards/shop_prod::sales"]


def test_a_dashboard_that_is_deleted_ends_and_keeps_its_history(project: LookmlFolder, sqlite_store: Engine) -> None:
    before, cursor = read(project)
    (project.folder / SALES).unlink()
    events, cursor = read(project, cursor)
    assert "dashboards/shop_prod::sales" in ended(events)
    assert "charts/shop_prod::sales/friends" in ended(events)
    assert read(project, cursor)[0] == []
    lines = store_events(sqlite_store, [*before, *events])
    intervals = [one for one in lines if one.get("derived") == "validity_interval" and "friends" in one["owner"]]
    assert intervals[0]["from"] < intervals[0]["to"]
    assert not [one for one in intervals if one["sets"] and one["to"] is None]


def test_a_file_that_breaks_ends_nothing(project: LookmlFolder) -> None:
    _, cursor = read(project)
    (project.folder / SALES).write_text("- dashboard: [")
    (project.folder / "views/users.view.lkml").write_text("view: users {")
    events, _ = read(project, cursor)
    assert [name for name, _ in declared(events)] == []
    assert "views/users.view.lkml" in gaps(events)
    assert SALES in gaps(events)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "set folder=DIRECTORY"),
        ({"folder": "."}, "set connections=FILE"),
        ({"folder": ".", "connections": "nowhere.yaml"}, "cannot be read as YAML"),
        ({"folder": ".", "connections": str(HERE / "connections.yaml"), "url": "looker"}, "no HTTP server"),
    ],
)
def test_a_wrong_option_is_a_sentence(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        capture.configure(options)


def test_the_address_of_looker_names_dashboards() -> None:
    reports = open_project(HERE / "shop", url="https://ada:pw@acme.looker.com").read().reports
    (sales,) = [one for one in reports if one.name.name == "dashboards/shop_prod::sales"]
    assert sales.name.namespace == "looker://acme.looker.com"
    assert sales.url == "https://acme.looker.com/dashboards/shop_prod::sales"
