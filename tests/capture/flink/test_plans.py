"""Plans compiled by a real Flink 2.3.0 (`make nightly-flink`) from the statements in tests/nightly/flink.

`edges.txt` was written from the texts of the statements.
"""

import json
import random
import shutil
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from capture.bi.expected import read_expected
from fixtures.captured_lineage import column_edges, store_events
from whence.capture.flink.plans import Plan, Written, read_plan
from whence.capture.flink.source import PlanFolder, capture
from whence.openlineage.accept import accept
from whence.openlineage.validation.strict import require_valid
from whence_client.captures import Naming, Window
from whence_client.outbox.encoding import encode_event

HERE = Path(__file__).parent
PLANS = HERE / "plans"
SECRET = b"hush-4711"
Json = dict[str, Any]


def lines_of(plan: Plan) -> set[str]:
    return set(chain.from_iterable(map(_lines, plan.outputs)))


def _lines(written: Written) -> Iterator[str]:
    table = written.dataset.name
    for name, column in written.columns.items():
        yield from _edge_lines(f"{table}.{name}", column.direct, "DIRECT")
        yield from _edge_lines(f"{table}.{name}", column.indirect, "INDIRECT")
    yield from _edge_lines(table, written.influences, "INDIRECT")


def _edge_lines(target: str, edges: Iterable[Any], type_: str) -> Iterator[str]:
    for one in edges:
        source = one.source
        yield f"{target} <- {source.dataset.namespace} {source.dataset.name}.{source.field} {type_} {one.subtype}"


def open_plans(folder: Path) -> PlanFolder:
    return capture.configure({"plans": str(folder)})


def events_of(source: PlanFolder) -> list[Json]:
    naming = Naming("shop", source.instance)
    return list(chain.from_iterable(source.translate(one, naming) for one, _ in source.records(None, Window())))


def write_plan(folder: Path, *nodes: Json, edges: Iterable[tuple[int, int]] = ()) -> Path:
    links = [{"source": source, "target": target} for source, target in edges]
    path = folder / "job.json"
    path.write_text(json.dumps({"flinkVersion": "2.3", "nodes": list(nodes), "edges": links}))
    return path


def table(name: str, **options: str) -> Json:
    columns = [{"name": "id", "dataType": "BIGINT"}]
    return {"table": {"identifier": name, "resolvedTable": {"schema": {"columns": columns}, "options": options}}}


def scan(**options: str) -> Json:
    source = table("`c`.`d`.`t`", **options)
    return {
        "id": 1,
        "type": "stream-exec-table-source-scan_2",
        "scanTableSource": source,
        "outputType": "ROW<`id` INT>",
    }


SINK: Json = {
    "id": 9,
    "type": "stream-exec-sink_2",
    "dynamicTableSink": table("`c`.`d`.`out`", connector="filesystem", path="/out"),
    "outputType": "ROW<`id` INT>",
}


def test_columns_are_made_of_what_the_statements_say() -> None:
    expected = read_expected(HERE / "edges.txt")
    found = {path.stem: read_plan(path) for path in sorted(PLANS.glob("*.json"))}
    assert {name: lines for name, plan in found.items() if (lines := lines_of(plan))} == expected
    assert {name for name, plan in found.items() if plan.gaps} == set()
    assert len(found) >= 20


def test_rows_that_nothing_is_read_for_are_known(tmp_path: Path) -> None:
    assert read_plan(PLANS / "dropped.json").outputs == ()
    for name in ("values", "generated"):
        (written,) = read_plan(PLANS / f"{name}.json").outputs
        assert [one.direct for one in written.columns.values()] == [frozenset(), frozenset()]


def test_events_are_valid_and_have_no_secret() -> None:
    events = events_of(open_plans(PLANS))
    assert any(SECRET in path.read_bytes() for path in PLANS.glob("*.json"))
    for one in events:
        require_valid(one)
        assert SECRET not in encode_event(one)
        assert accept(encode_event(one)).warnings == ()
    assert {one["job"]["name"] for one in events} == {path.stem for path in PLANS.glob("*.json")}


def test_twice_and_shuffled_is_the_same_store(sqlite_store: Engine) -> None:
    events = events_of(open_plans(PLANS))
    once = store_events(sqlite_store, events)
    assert {"orders ü.amount -> totals.gross", "users.name -> texts; drop.a"} <= column_edges(once)
    twice = [*events, *events]
    random.Random(23).shuffle(twice)
    assert store_events(sqlite_store, twice) == once


def test_only_changed_plans_are_declared_again(tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    (folder / "prod").mkdir(parents=True)
    shutil.copy(PLANS / "join.json", folder / "prod" / "join.json")
    shutil.copy(PLANS / "case.json", folder / "case.json")
    source = open_plans(folder)
    *_, (_, cursor) = source.records(None, Window())
    assert list(source.records(cursor, Window())) == []
    shutil.copy(PLANS / "union.json", folder / "prod" / "join.json")
    assert [one.job for one, _ in source.records(cursor, Window())] == ["prod/join"]


OPTIONS: dict[str, dict[str, str]] = {
    "connector mongodb": {"connector": "mongodb"},
    "no options of it": {},
    "path is relative": {"connector": "filesystem", "path": "orders"},
    "not one topic": {"connector": "kafka", "topic": "a;b", "properties.bootstrap.servers": "k:9092"},
    "its url": {"connector": "jdbc", "url": "jdbc:oracle:thin:@shop_high", "table-name": "t"},
    "no table with its host": {"connector": "mysql-cdc", "hostname": "db"},
}


@pytest.mark.parametrize("reason", OPTIONS)
def test_a_table_that_is_not_known_is_announced(reason: str, tmp_path: Path) -> None:
    plan = read_plan(write_plan(tmp_path, scan(**OPTIONS[reason]), SINK, edges=[(1, 9)]))
    assert reason in plan.gaps["c.d.t"]
    assert plan.inputs == ()
    assert plan.outputs[0].columns["id"].reasons == {"not_captured"}


TABLES = {
    ("kafka://k-1:9092", "orders.v1"): {
        "connector": "upsert-kafka",
        "topic": "orders.v1",
        "properties.bootstrap.servers": "k-1:9092,k-2:9092",
    },
    ("postgres://db:5432", "shop.public.orders"): {
        "connector": "jdbc",
        "url": "jdbc:postgresql://db:5432/shop",
        "table-name": "orders",
        "password": "hush-4711",
    },
    ("mysql://db:3306", "shop.orders"): {
        "connector": "mysql-cdc",
        "hostname": "db",
        "database-name": "shop",
        "table-name": "orders",
    },
    ("postgres://db:6543", "shop.sales.orders"): {
        "connector": "postgres-cdc",
        "hostname": "db",
        "port": "6543",
        "database-name": "shop",
        "schema-name": "sales",
        "table-name": "orders",
    },
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_name_that_others_give_it(name: tuple[str, str], tmp_path: Path) -> None:
    plan = read_plan(write_plan(tmp_path, scan(**TABLES[name]), SINK, edges=[(1, 9)]))
    assert [one.key for one in plan.inputs] == [name]
    assert [one.subtype for one in plan.outputs[0].columns["id"].direct] == ["IDENTITY"]


def test_an_operator_that_is_not_known_is_announced(tmp_path: Path) -> None:
    match = {"id": 2, "type": "stream-exec-match_1", "outputType": "ROW<`id` INT>"}
    nodes = (scan(connector="filesystem", path="/in"), match, SINK)
    plan = read_plan(write_plan(tmp_path, *nodes, edges=[(1, 2), (2, 9)]))
    assert plan.gaps == {"operator 2": "an operator match is not read"}
    assert plan.outputs[0].columns["id"].reasons == {"not_captured"}


def test_a_function_of_a_user_is_a_doubt(tmp_path: Path) -> None:
    call = {"kind": "CALL", "class": "acme.Score", "operands": [{"kind": "INPUT_REF", "inputIndex": 0}]}
    calc = {"id": 2, "type": "stream-exec-calc_1", "projection": [call], "outputType": "ROW<`id` INT>"}
    nodes = (scan(connector="filesystem", path="/in"), calc, SINK)
    (written,) = read_plan(write_plan(tmp_path, *nodes, edges=[(1, 2), (2, 9)])).outputs
    assert written.columns["id"].reasons == {"opaque_function"}
    assert [one.subtype for one in written.columns["id"].direct] == ["TRANSFORMATION"]


@pytest.mark.parametrize("text", ["", "[]", '{"nodes": []}', '{"flinkVersion": "2.3", "nodes": 3}', "[" * 100_000])
def test_a_broken_plan_is_named_and_stops_no_other(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    shutil.copy(PLANS / "case.json", tmp_path / "b.json")
    broken, whole = events_of(open_plans(tmp_path))
    assert "a: a.json: it" in broken["run"]["facets"]["extractionError"]["errors"][0]["errorMessage"]
    assert whole["job"]["name"] == "b"


@pytest.mark.parametrize("value", [None, 7, "text", [3], {"x": 3}])
@pytest.mark.parametrize("key", ["type", "projection", "condition", "outputType", "id"])
def test_malformed_members_stop_nothing(key: str, value: Any, tmp_path: Path) -> None:
    calc = {"id": 2, "type": "stream-exec-calc_1", "projection": [], "outputType": "ROW<`id` INT>", key: value}
    nodes = (scan(connector="filesystem", path="/in"), calc, SINK)
    assert read_plan(write_plan(tmp_path, *nodes, edges=[(1, 2), (2, 9)])).version == "2.3"


def test_no_plans_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="set plans=DIRECTORY"):
        capture.configure({})
    with pytest.raises(Exception, match="there are no plans"):
        list(open_plans(tmp_path).records(None, Window()))
    assert open_plans(tmp_path / "x").check().problems == (f"there is no folder {tmp_path}/x",)
