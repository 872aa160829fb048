"""A Superset with three databases, in the form of its documented API; the lineage was written before the first run."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.bi.expected import found_lines, read_expected
from capture.bi.superset.replay import Replay, replaying
from fixtures.captured_lineage import dataset_edges, store_events
from whence.capture.bi.reports import DASHBOARD, Found
from whence.capture.bi.superset.source import capture
from whence.errors import SourceError
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window

HERE = Path(__file__).parent
Json = dict[str, Any]


@pytest.fixture(scope="module")
def replay() -> Iterator[Replay]:
    with replaying() as made:
        yield made


@pytest.fixture(scope="module")
def found(replay: Replay) -> Found:
    return replay.server.read()


def events_of(replay: Replay, cursor: Any = None) -> tuple[list[Json], Any]:
    records = list(replay.server.records(cursor, Window()))
    naming = Naming("bi", "superset://superset")
    events = chain.from_iterable(replay.server.translate(one, naming) for one, _ in records)
    return list(events), records[-1][1] if records else cursor


def test_charts_have_the_lineage_that_their_queries_say(found: Found) -> None:
    assert found_lines(found.reports) == read_expected(HERE / "edges.txt")


def test_what_cannot_be_known_is_named(found: Found) -> None:
    reasons = {
        "chart/5 Mine: 1": "current_username",
        "chart/8 Nowhere: 1": "the database hidden",
        "chart/9 Broken: 1": "no JSON",
        "chart/10 Unknown: 1": "no column ghost",
        "chart/10 Unknown: 2": "'x' is undefined",
        "dashboard/2": "may not see it",
    }
    assert found.gaps.keys() == reasons.keys()
    for place, reason in reasons.items():
        assert reason in found.gaps[place]


def test_a_dashboard_has_owners_a_link_and_its_charts(found: Found) -> None:
    overview, _ = (one for one in found.reports if one.kind == DASHBOARD)
    assert overview.owners == ("ada@acme.com",)
    assert overview.url.endswith("/superset/dashboard/overview/")
    assert overview.updated == datetime(2026, 11, 21, 10, tzinfo=UTC)
    assert overview.lineage.fields == ("country", "revenue", "orders", "who", "top")


def test_expressions_have_the_name_of_the_table(replay: Replay) -> None:
    documents = json.dumps(events_of(replay)[0])
    described = {one["description"] for one in _transformations(json.loads(documents))}
    assert any(".amount" in one or '."amount"' in one for one in described), described
    assert not [one for one in described if "dataset" in one]


def _transformations(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from value.get("transformations", ())
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _transformations(one)


def test_the_store_has_the_dashboard_behind_a_virtual_dataset(replay: Replay, sqlite_store: Engine) -> None:
    events, _ = events_of(replay)
    for event in events:
        require_valid(event)
    assert "hush-4711" not in json.dumps(events)
    once = store_events(sqlite_store, events)
    edges = dataset_edges(once)
    assert "shop.crm.users -> charts/4 Best customers" in edges
    assert "charts/4 Best customers -> dashboards/1 Overview ü" in edges
    twice = [*events, *events_of(replay)[0]]
    random.Random(10).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_what_is_deleted_ends_and_what_is_refused_stays(replay: Replay) -> None:
    _, cursor = events_of(replay)
    assert events_of(replay, cursor)[0] == []
    charts, shown = replay.answers["lists"]["api/v1/chart/"], replay.answers["results"].pop("dashboard/1/charts")
    gone = charts.pop(2)
    events, _ = events_of(replay, cursor)
    charts.insert(2, gone)
    replay.answers["results"]["dashboard/1/charts"] = shown
    declared = {one["dataset"]["name"]: one["dataset"]["facets"] for one in events if "dataset" in one}
    assert [name for name, facets in declared.items() if "lifecycleStateChange" in facets] == ["charts/3 Raw"]
    assert "dashboards/1 Overview ü" not in declared


def test_a_server_that_refuses_is_a_sentence(replay: Replay) -> None:
    replay.status = 403
    with pytest.raises(SourceError, match="HTTP 403 for api/v1/chart/"):
        replay.server.read()
    replay.status = 200


def test_a_missing_address_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="no HTTP server: set url="):
        capture.configure({"url": "superset"})
