"""The published tables say what the oracle says of the same events, from one snapshot, to any engine."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable
from hypothesis import HealthCheck, given, settings
from pyspark.sql import SparkSession
from sqlalchemy import Engine, select

from conftest import STORES
from fixtures.migrated_stores import open_migrated
from fixtures.readings_of_events import arrive, empty, readings_of
from fixtures.received_events import append, hourly, segments
from generators import body, histories
from oracle import dump as oracle_dump
from whence.derive.delta.frames import replace_rows
from whence.derive.delta.table import make_table
from whence.derive.lineage_tables.job import publish
from whence.derive.lineage_tables.schema import SCHEMA_VERSION, TABLES
from whence.derive.rebuild import rebuild
from whence.errors import TableBusyError, TableError
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.lifecycle.export import RELATIONS, count_rows, export_snapshot, open_snapshot, read_rows
from whence.store.schema.tables import dataset

Row = dict[str, Any]
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)
EDGE = ("source", "target", "type", "subtype", "masking", "description")


def rows(root: Path, table: str, version: int | None = None) -> list[Row]:
    found: list[Row] = DeltaTable(root / table, version=version).to_pyarrow_table().to_pylist()
    return found


def micros(time: datetime | None) -> int | None:
    return None if time is None else (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def counted(some: Iterable[Iterable[object]]) -> Counter[tuple[object, ...]]:
    return Counter(map(tuple, some))


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[Engine]:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = segments(tmp_path_factory.mktemp("log"))
    append(log, hourly(150))
    return log.directory


@dataclass(frozen=True, slots=True)
class Published:
    """Tables under `root`, published from a store of the log; `counts` are the rows of each."""

    root: Path
    url: str
    counts: dict[str, int]


def publish_log(spark: SparkSession, log: Path, url: str, root: Path) -> Published:
    rebuild(spark, segments(log), url)
    return Published(root, url, publish_again(spark, url, root))


def publish_again(spark: SparkSession, url: str, root: Path) -> dict[str, int]:
    engine = open_store(url)
    counts = publish(spark, engine, str(root))
    engine.dispose()
    return counts


@pytest.fixture(scope="module")
def published(spark: SparkSession, log: Path, tmp_path_factory: pytest.TempPathFactory) -> Published:
    """The tables of the log, from SQLite."""
    root = tmp_path_factory.mktemp("published")
    return publish_log(spark, log, sqlite_url(root / "store.db"), root)


@settings(max_examples=2, suppress_health_check=SLOW)
@given(history=histories(most=80))
def test_the_tables_say_what_the_oracle_says(
    spark: SparkSession, sqlite_store: Engine, tmp_path: Path, history: list[Row]
) -> None:
    empty(sqlite_store)
    bodies = [body(event) for event in history]
    arrive(sqlite_store, readings_of(bodies), [len(bodies)])
    publish(spark, sqlite_store, str(tmp_path / "tables"))
    lines = [json.loads(line) for line in oracle_dump(bodies)]
    root = tmp_path / "tables"

    assert counted(edges_of(root)) == counted(edges_by(lines))
    names = ("node", "first_seen", "last_seen")
    for kind in ("dataset", "job"):
        found = counted((one["node"], micros(one["first_seen"]), micros(one["last_seen"])) for one in rows(root, kind))
        assert found == counted([one[name] for name in names] for one in lines if one.get("fact") == kind)
    assert counted((one["node"], one["declared"]) for one in rows(root, "field")) == counted(
        (one["node"], one["declared"]) for one in lines if one.get("fact") == "field"
    )
    assert groups_of(rows(root, "dataset")) == sorted(
        one["members"] for one in lines if one.get("derived") == "alias_group"
    )
    assert counted(runs_of(root)) == counted(runs_by(lines))


def edges_of(root: Path) -> Iterator[list[object]]:
    for one in rows(root, "edge"):
        head = [one["owner"], one["aspect"], one["origin"], one["level"], one["confirmed"]]
        yield [*head, micros(one["valid_from"]), micros(one["valid_to"]), *(one[name] for name in EDGE)]


NO_EDGES = ("unreported", "incomplete")


def edges_by(lines: list[Row]) -> Iterator[list[object]]:
    """Every edge of every set, for each time in which its owner held the set without a break."""
    sets = {one["set"]: one for one in lines if one.get("fact") == "set" and one["origin"] not in NO_EDGES}
    held: dict[tuple[str, str, str], list[Row]] = {}
    for span in sorted(
        (one for one in lines if one.get("derived") == "validity_interval"), key=lambda one: one["from"]
    ):
        for digest in filter(sets.__contains__, span["sets"]):
            spans = held.setdefault((span["owner"], span["aspect"], digest), [])
            if spans and (spans[-1]["to"], spans[-1]["confirmed"]) == (span["from"], span["confirmed"]):
                spans[-1]["to"] = span["to"]
            else:
                spans.append(dict(span))
    for (owner, aspect, digest), spans in held.items():
        of = sets[digest]
        for span in spans:
            for edge in of["edges"]:
                yield [owner, aspect, of["origin"], of["level"], span["confirmed"], span["from"], span["to"], *edge]


def groups_of(datasets: list[Row]) -> list[list[str]]:
    groups: dict[int, list[str]] = {}
    for one in datasets:
        groups.setdefault(one["representative_id"], []).append(one["node"])
    return sorted(sorted(names) for names in groups.values() if len(names) > 1)


def runs_of(root: Path) -> Iterator[list[object]]:
    published = rows(root, "run")
    name = {one["id"]: f"run:{one['run_id']}@{job_node(one)}" for one in published}
    for one in published:
        times = [micros(one[time]) for time in ("started_at", "ended_at", "seen_from", "seen_to")]
        flags = [one["reported_start"], one["reported_end"], one["streaming"], one["partial"]]
        assert one["root_id"] is None or one["root_id"] in name
        yield [name[one["id"]], one["state"], *times, *flags, name.get(one["parent_id"]) is not None]


def job_node(run: Row) -> str:
    escaped = run["job_name"].replace("%", "%25").replace(":", "%3A")
    return f"job:{run['job_namespace']}:{escaped}"


def runs_by(lines: list[Row]) -> Iterator[list[object]]:
    inner = {one["run"] for one in lines if one.get("fact") == "containment" and one["relation"] == "parent"}
    for one in lines:
        if one.get("fact") == "run":
            ended = one["state_at"] if one["terminals"] else None
            times = [one["started_at"], ended, one["seen_from"], one["seen_to"]]
            flags = [one["started_at"] is not None, bool(one["terminals"]), one["streaming"], one["partial"]]
            yield [one["node"], one["state"], *times, *flags, one["node"] in inner]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Publish SQLite again; with `--long` PostgreSQL, too."""
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", STORES if metafunc.config.getoption("long") else STORES[:1])


def test_a_rerun_is_the_same_and_earlier_versions_stay(
    kind: str, spark: SparkSession, log: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if kind == "sqlite":
        before: Published = request.getfixturevalue("published")
    else:
        before = publish_log(spark, log, request.getfixturevalue("postgres_url"), tmp_path)
    root = before.root
    assert publish_again(spark, before.url, root) == before.counts
    for name in TABLES:
        table = DeltaTable(root / name)
        earlier, later = (
            sorted(map(repr, rows(root, name, version))) for version in (table.version() - 1, table.version())
        )
        assert earlier == later
        assert len(later) == before.counts[name]
        assert table.metadata().configuration["whence.schemaVersion"] == str(SCHEMA_VERSION)
        assert '"log"' in table.history(1)[0]["whence.progress"]


def test_another_engine_answers_a_question_in_sql(published: Published) -> None:
    edge = DeltaTable(published.root / "edge").to_pyarrow_dataset()
    run = DeltaTable(published.root / "run").to_pyarrow_dataset()
    assert edge.count_rows() > 100
    assert run.count_rows() > 10
    found = duckdb.execute("""
        SELECT edge.target_namespace || ':' || edge.target_name AS written, count(DISTINCT run.run_id) AS runs
        FROM edge JOIN run ON run.job_id = edge.owner_id
        WHERE edge.source LIKE 'job:%' AND edge.valid_to IS NULL AND run.state = 'COMPLETE'
        GROUP BY ALL ORDER BY ALL
    """).fetchall()
    written = {
        one["owner_id"]: f"{one['target_namespace']}:{one['target_name']}"
        for one in rows(published.root, "edge")
        if one["source"].startswith("job:") and one["valid_to"] is None
    }
    ended = Counter(
        written[one["job_id"]]
        for one in rows(published.root, "run")
        if one["state"] == "COMPLETE" and one["job_id"] in written
    )
    assert found == sorted(ended.items())
    assert len(found) > 10


def test_a_snapshot_does_not_see_what_comes_later(store: Engine, tmp_path: Path) -> None:
    row = {"namespace": "file", "first_seen": 1, "last_seen": 2}
    with store.begin() as connection:
        connection.execute(dataset.insert(), [{"id": number * 4, "name": str(number), **row} for number in range(5)])
    with export_snapshot(store, tmp_path) as snapshot:
        with store.begin() as connection:
            connection.execute(dataset.insert(), {"id": 400, "name": "late", **row})
        for _ in range(2):
            with open_snapshot(snapshot) as connection:
                assert connection.execute(select(dataset.c.id).order_by(dataset.c.id)).scalars().all() == [
                    0,
                    4,
                    8,
                    12,
                    16,
                ]
    with export_snapshot(store, tmp_path / "..") as snapshot, open_snapshot(snapshot) as connection:
        assert count_rows(connection, RELATIONS["dataset"]) == 6


def test_ranges_of_ids_have_every_row_once(store: Engine, tmp_path: Path) -> None:
    ends = (-(2**63), -(2**62) - 4, -4, 0, 4, 2**62, 2**63 - 4)
    with store.begin() as connection:
        connection.execute(
            dataset.insert(),
            [{"id": id_, "namespace": "file", "name": str(id_), "first_seen": 1, "last_seen": 2} for id_ in ends],
        )
    with export_snapshot(store, tmp_path) as snapshot, open_snapshot(snapshot) as connection:
        found = [
            [row.id for part in read_rows(connection, RELATIONS["dataset"], low, high) for row in part]
            for low, high in ((-(2**63), -1), (0, 2**62), (2**62 + 1, 2**63 - 1))
        ]
    assert [sorted(some) for some in found] == [[*ends[:3]], [*ends[3:6]], [ends[6]]]


def test_of_two_publishers_at_once_one_loses(tmp_path: Path) -> None:
    uri, of = str(tmp_path / "job"), TABLES["job"]
    first, second = (make_table(uri, of.schema, "whence_job") for _ in range(2))
    replace_rows(uri, first, [], of.plain, {})
    with pytest.raises(TableBusyError):
        replace_rows(uri, second, [], of.plain, {})


def test_tables_of_another_schema_are_not_replaced(spark: SparkSession, sqlite_store: Engine, tmp_path: Path) -> None:
    properties: dict[str, str | None] = {"whence.schemaVersion": "0"}
    make_table(str(tmp_path / "edge"), TABLES["edge"].schema, "whence_edge", properties=properties)
    with pytest.raises(TableError, match="schema version is 0"):
        publish(spark, sqlite_store, str(tmp_path))


def test_columns_carry_their_meaning(published: Published) -> None:
    for name, table in TABLES.items():
        comments = {one.name: one.metadata["comment"] for one in DeltaTable(published.root / name).schema().fields}
        assert comments == {column: meaning for column, _, meaning in table.columns}
        assert all(re.fullmatch(r"[^|\n]+", meaning) for meaning in comments.values())
