"""A Metabase with three databases, in the form of its documented API; the lineage was written before the first run."""

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
from capture.bi.metabase.replay import Replay, replaying
from fixtures.captured_lineage import dataset_edges, store_events
from whence.capture.bi.metabase.reports import Answers, Server
from whence.capture.bi.metabase.source import capture
from whence.capture.bi.reports import DASHBOARD, Found
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
    return replay.read()


def events_of(replay: Replay, cursor: Any = None) -> tuple[list[Json], Any]:
    records = list(replay.server.records(cursor, Window()))
    naming = Naming("bi", replay.server.instance)
    events = chain.from_iterable(replay.server.translate(one, naming) for one, _ in records)
    return list(events), records[-1][1] if records else cursor


def test_cards_have_the_lineage_that_their_queries_say(found: Found) -> None:
    assert found_lines(found.reports) == read_expected(HERE / "edges.txt")


def test_what_cannot_be_known_is_named(found: Found) -> None:
    reasons = {
        "card/9 Hidden database: 1": "ask as an administrator",
        "card/10 Segment: 1": "a segment of Metabase is not read",
        "card/11 Snippet: 1": "snippet: x",
        "card/12 Broken SQL: 1": "cannot be read",
        "card/13 Never run: 1": "run it once",
        "card/15 Lost field: 1": "the field 99 is not there",
        "database/3": "may not see it",
        "dashboard/3": "may not see it",
    }
    assert found.gaps.keys() == reasons.keys()
    for place, reason in reasons.items():
        assert reason in found.gaps[place]


def test_a_dashboard_has_an_owner_views_and_the_cards_over_its_cards(found: Found) -> None:
    overview, _ = (one for one in found.reports if one.kind == DASHBOARD)
    assert (overview.owners, overview.views) == (("ada@acme.com",), 42)
    assert overview.viewed == datetime(2026, 11, 26, 9, tzinfo=UTC)
    assert overview.url.endswith("/dashboard/1")
    assert overview.lineage.fields == ("country", "Created At", "sum", "count", "done", "avg")


def test_the_store_leads_from_a_table_over_cards_to_a_dashboard(replay: Replay, sqlite_store: Engine) -> None:
    events, _ = events_of(replay)
    for event in events:
        require_valid(event)
    assert "hush-4711" not in json.dumps(events)
    once = store_events(sqlite_store, events)
    assert {
        "shop.sales.orders -> cards/2 Model of orders",
        "cards/2 Model of orders -> cards/3 On the model",
        "cards/3 On the model -> dashboards/1 Overview ü",
    } <= dataset_edges(once)
    twice = [*events, *events_of(replay)[0]]
    random.Random(10).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_a_card_in_the_trash_ends_and_a_refused_dashboard_stays(replay: Replay) -> None:
    _, cursor = events_of(replay)
    assert events_of(replay, cursor)[0] == []
    replay.answers["card"][7]["archived"], overview = True, replay.answers.pop("dashboard/1")
    events, _ = events_of(replay, cursor)
    replay.answers["card"][7]["archived"], replay.answers["dashboard/1"] = False, overview
    declared = {one["dataset"]["name"]: one["dataset"]["facets"] for one in events if "dataset" in one}
    assert declared.keys() == {"cards/8 Everything"}
    assert declared["cards/8 Everything"]["lifecycleStateChange"]["lifecycleStateChange"] == "DROP"


def test_a_server_that_refuses_is_a_sentence(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_METABASE_KEY", "wrong")
    with pytest.raises(SourceError, match=r"HTTP 401 for api/card.*WHENCE_METABASE_KEY is wrong") as refused:
        replay.server.read()
    assert "{" not in str(refused.value)
    monkeypatch.delenv("WHENCE_METABASE_KEY")
    with pytest.raises(SourceError, match="set WHENCE_METABASE_KEY, WHENCE_METABASE_USER, WHENCE_METABASE_PASSWORD"):
        replay.server.read()


def test_what_was_refused_is_listed_in_one_order_in_every_process() -> None:
    names = {f"dashboard/{number}" for number in range(20)}
    answers = Answers(cards=(), dashboards=(), databases=(), metadata=(), refused=frozenset(names))
    found = Server(answers, "metabase://host", "http://host", {}).reports(datetime(2026, 11, 20, tzinfo=UTC))
    assert list(found.gaps) == sorted(names)


def test_a_missing_address_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="no HTTP server: set url="):
        capture.configure({"url": "metabase"})
