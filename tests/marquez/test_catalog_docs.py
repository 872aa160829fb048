"""docs/reference/http-catalog.md tells the truth: its examples are answered as it says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.process import Api, Serving
from fixtures.stores_of_events import applying
from marquez.conftest import prepare
from test_docs import EXAMPLE, page, shape
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, replace_producer, run_event
from whence.store.connection.engine import open_store

SIX = 1_795_154_400_000_000
RUN = RunName("0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10", JobName("shop", "daily"))
DB = "postgres://db:5432"


def world() -> list[bytes]:
    """A job that reads orders and writes revenue, twice an event."""
    revenue = dataset(
        DatasetName(DB, "shop.revenue"), facets={"schema": {"fields": [{"name": "total", "type": "numeric"}]}}
    )
    ends: dict[str, Any] = {"inputs": [dataset(DatasetName(DB, "shop.orders"))], "outputs": [revenue]}
    events = [
        run_event(SIX, RunState.START, RUN, **ends),
        run_event(SIX + 60_000_000, RunState.COMPLETE, RUN, **ends),
    ]
    return [json.dumps(replace_producer("https://example.org/nightly", one)).encode() for one in events]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Api]:
    """An API over that world, with a pipeline."""
    prepare(tmp_path, world())
    serving = Serving(tmp_path)
    api = serving()
    engine = open_store(api.store_url)
    with applying(engine, api.data / "log"):
        yield api
    serving.end()
    engine.dispose()


def test_every_example_is_answered_as_it_says(shop: Api) -> None:
    examples = EXAMPLE.findall(page("docs/reference/http-catalog.md"))
    assert len(examples) > 20
    for method, target, body, status, documented in examples:
        headers = {"content-type": "application/json"} if body else {}
        answer = shop.ask(method, target, body.encode() or None, headers)
        assert answer.status == int(status), (target, answer)
        assert shape(answer.json) == shape(json.loads(documented)), target


def test_times_and_names_of_reads_are_exact(shop: Api) -> None:
    for method, target, _, _, documented in EXAMPLE.findall(page("docs/reference/http-catalog.md")):
        if method == "GET" and not re.search("/facts|/events/", target):
            assert shop.ask("GET", target).json == json.loads(documented), target
