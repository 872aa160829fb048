"""ARCHITECTURE.md tells the truth: one event really passes the stations of its table, in the order of the table.

What runs in other processes in life (the Spark source: its planning, and its part in the executors) is called here in
this one, as Spark calls it.
"""

import ast
import asyncio
import importlib
import json
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest
from sqlalchemy import Engine

import whence
from fixtures.migrated_stores import open_migrated
from whence.api.server.app import create_app
from whence.api.settings import Settings
from whence.cli.answers.local.options import answer_of
from whence.cli.answers.tree import Style, tree
from whence.client.answers.graph import Lineage
from whence.derive.sources.segments import split_range, transform_range
from whence.derive.writing.merge import merge_into
from whence.log.segments import committed_end
from whence.log.segments.log import LANE, SegmentLog
from whence.query.answers.values import Question
from whence.query.lookup.resolve import resolve
from whence.query.questions.lineage import reach_upstream
from whence.query.rendering.listings import lineage_listing
from whence.store.connection.data_key import store_address
from whence.store.connection.engine import StoreAddress, reading, sqlite_url
from whence.store.ingest.recompute import recompute
from whence.store.snapshots.graph import StoreGraph
from whence_client.spark import conf

ROOT = Path(__file__).parents[1]
CLIENT = "client/src/"
ROW = re.compile(r"\| (\d+) \| `([^`]+)` `([^`]+)` \| (.+) \|")
RUN = "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"
EVENT = {
    "eventType": "COMPLETE",
    "eventTime": "2026-11-20T06:00:00Z",
    "producer": "https://example.org/walk",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": RUN},
    "job": {"namespace": "walk", "name": "sum_orders"},
    "inputs": [{"namespace": "postgres://db:5432", "name": "shop.walk.orders"}],
    "outputs": [
        {
            "namespace": "postgres://db:5432",
            "name": "shop.walk.daily",
            "facets": {
                "columnLineage": {
                    "_producer": "https://example.org/walk",
                    "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json",
                    "fields": {
                        "total": {
                            "inputFields": [
                                {
                                    "namespace": "postgres://db:5432",
                                    "name": "shop.walk.orders",
                                    "field": "amount",
                                    "transformations": [
                                        {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum(amount)"}
                                    ],
                                }
                            ]
                        }
                    },
                }
            },
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Station:
    """One row of the table: the functions that it stands for (of a tuple of functions, all)."""

    file: str
    name: str
    codes: tuple[CodeType, ...]


@dataclass(slots=True)
class Passed:
    """The code that was called, in the order of the first calls."""

    codes: dict[CodeType, None] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.codes.setdefault(frame.f_code)


def stations() -> list[Station]:
    """The table of ARCHITECTURE.md. Fails if a file or a function is not there."""
    rows = ROW.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    assert [int(number) for number, *_ in rows] == list(range(1, len(rows) + 1))
    return [_station(file, name) for _, file, name, _ in rows]


def test_every_file_that_the_page_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    named = set(re.findall(r"`([\w/]+\.(?:py|md))`", text))
    assert len(named) > 20
    places = (ROOT, ROOT / "src" / "whence")
    assert {name for name in named if not any((place / name).is_file() for place in places)} == set()


def test_one_event_passes_every_station_in_the_order_of_the_table(tmp_path: Path) -> None:
    passed = Passed()
    shown = walk_of_one_event(tmp_path, passed)
    assert "orders.amount" in shown
    assert "sum(amount)  AGGREGATION" in shown
    places = {code: number for number, code in enumerate(passed.codes)}
    table = [(station, [places.get(code) for code in station.codes]) for station in stations()]
    assert [f"{station.file} {station.name}" for station, found in table if None in found] == []
    order = [number for _, found in table for number in found if number is not None]
    assert order == sorted(order), "the event passes the stations in another order"


def test_a_station_that_is_not_there_is_found() -> None:
    with pytest.raises(AttributeError):
        _station("cli/answers/tree.py", "render")
    with pytest.raises(ModuleNotFoundError):
        _station("cli/branches.py", "tree")


def test_no_module_takes_the_place_of_what_its_package_offers() -> None:
    """A module that is imported later than its package replaces a function of the same name there."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(whence.__path__, "whence.")
        if not found.name.endswith(("__main__", ".env")) and ".versions." not in found.name
    ]
    offered = [(one.__name__, name) for one in modules for name in getattr(one, "__all__", ())]
    assert ("whence.capture.sql", "Catalog") in offered
    taken = [(place, name) for place, name in offered if isinstance(getattr(sys.modules[place], name), ModuleType)]
    assert taken == []


MOST_MODULES, MOST_LINES = 16, 400
SOURCES = {"src": "*.py", "client": "*.py", "tests": "*.py", "bench": "*.py", "ui/src": "*.[ct]s*"}
GENERATED = {"ui/src/api/schema.d.ts"}


def modules() -> list[str]:
    """The modules of Python and TypeScript and the style sheets, below the repository's root."""
    paths = [path for folder, kind in SOURCES.items() for path in (ROOT / folder).rglob(kind)]
    return sorted({path.relative_to(ROOT).as_posix() for path in paths} - GENERATED)


def test_no_folder_has_more_modules_than_a_reader_takes_in() -> None:
    folders = Counter(one.rpartition("/")[0] for one in modules())
    assert {"src/whence/store/ingest", "ui/src/explorer"} <= folders.keys()
    assert {one: count for one, count in folders.items() if count > MOST_MODULES} == {}


def test_no_module_has_more_lines_than_a_reader_takes_in() -> None:
    lines = {one: (ROOT / one).read_text("utf-8").count("\n") for one in modules()}
    assert {one: count for one, count in lines.items() if count > MOST_LINES} == {}


def test_every_package_says_what_belongs_there() -> None:
    inits = [one for one in (ROOT / "src").rglob("__init__.py") if "versions" not in one.parts]
    assert len(inits) > 40
    texts = {str(one.relative_to(ROOT)): ast.get_docstring(ast.parse(one.read_text("utf-8"))) for one in inits}
    assert [place for place, text in texts.items() if not text] == []


@contextmanager
def calls(passed: Passed) -> Iterator[None]:
    """Note every call of this thread while the context is open."""
    before = sys.getprofile()
    sys.setprofile(passed)
    try:
        yield
    finally:
        sys.setprofile(before)


def walk_of_one_event(directory: Path, passed: Passed) -> str:
    """Send one event along; the tree of the answer about it."""
    settings = Settings(data=directory, store_url=sqlite_url(directory / "store.db"), open=True)
    engine = open_migrated(settings.store_url)
    with calls(passed):
        path = conf(url="http://whence", namespace="walk")["spark.openlineage.transport.endpoint"]
    answer = asyncio.run(post(settings, path, json.dumps(EVENT).encode(), passed))
    assert answer["duplicate"] is False
    with calls(passed):
        merge_log(settings.data / "log", store_address(engine))
        recompute(engine, {LANE: committed_end(settings.data / "log").as_int})
        shown = asked(engine)
    engine.dispose()
    return shown


def asked(engine: Engine) -> str:
    """The question at the end of the walk, and its answer."""
    with reading(engine) as connection:
        graph = StoreGraph(connection)
        found = lineage_listing(reach_upstream(graph, resolve(graph, "daily.total"), Question()))
        return "\n".join(line.plain for line in tree(answer_of(found, Lineage), Style(now=0)))


async def post(settings: Settings, path: str, body: bytes, passed: Passed) -> dict[str, Any]:
    """The application's answer to one POST, without a socket."""
    app = create_app(settings)
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
    async with app.router.lifespan_context(app):
        with calls(passed):
            await app(scope, receive, send)
    assert messages[0]["status"] == 201, messages
    answer: dict[str, Any] = json.loads(messages[1]["body"])
    return answer


def merge_log(log: Path, store: StoreAddress) -> None:
    """What Spark does with the log: plan the new part of it, and read each partition in an executor."""
    (lane,) = SegmentLog(log).list_lanes()
    ranges = split_range(log, lane.start, lane.end, most=2)
    assert [batch for one in ranges for batch in transform_range(log, merge_into(store), one)] == []


def _station(file: str, name: str) -> Station:
    path = ROOT / file if file.startswith(CLIENT) else ROOT / "src" / "whence" / file
    root = ROOT / CLIENT if file.startswith(CLIENT) else ROOT / "src"
    named_module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(named_module)
    assert module.__file__ == str(path)
    named: Any = reduce(getattr, name.split("."), module)
    functions: tuple[Callable[..., Any], ...] = named if isinstance(named, tuple) else (named,)
    return Station(file, name, tuple(function.__code__ for function in functions))
