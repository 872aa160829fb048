"""Logged queries on Spark: the very events that reading the same log in one process gives, byte for byte."""

import io
import json
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from whence.capture.sql import Catalog
from whence.capture.sql_log import FORMATS, Flaw, Line, Settings, event_lines
from whence.cli.event_files import find_event_files
from whence.derive.sql_log.__main__ import write_lines
from whence.derive.sql_log.source import read_rows
from whence.derive.sql_log.stages import EVENT_COLUMNS, logged_events
from whence.errors import ArtifactError, TableError

GOLDEN = Path(__file__).parents[2] / "capture" / "sql_log" / "golden"
TABLES = [path for path in sorted(GOLDEN.iterdir()) if path.suffix in (".csv", ".json") and path.stem in FORMATS]
OF_ROWS = [path for path in TABLES if FORMATS[path.stem].row]
COLUMNS = {"shop.public.src": ["a", "b", "c"]}


def settings(form: str) -> Settings:
    dialect = FORMATS[form].dialect
    catalog = Catalog.from_columns(COLUMNS, dialect)
    return Settings(dialect=dialect, namespace="x://y", jobs="jobs", time=1_700_000_000_000_000, catalog=catalog)


def history(count: int) -> list[dict[str, Any]]:
    """Queries of 40 sessions, as Snowflake tells of them: some make temporary tables that later ones read."""
    random_ = random.Random(5)
    rows = []
    for number in range(count):
        session, at = number % 40, datetime(2026, 2, 1, tzinfo=UTC) + timedelta(seconds=number)
        text = random_.choice(
            [
                f"create temporary table tmp as select a, b + {number} as b from src",
                "insert into daily select a, sum(b) as b from tmp group by a",
                f"insert into t{number} select * from src where c > {number}",
                "selec nothing",
                "select 1",
            ]
        )
        rows.append(
            {
                "QUERY_ID": f"q{number}",
                "QUERY_TEXT": text,
                "DATABASE_NAME": "SHOP",
                "SCHEMA_NAME": "PUBLIC",
                "SESSION_ID": session,
                "USER_NAME": "ADA",
                "START_TIME": at,
                "END_TIME": at + timedelta(milliseconds=300),
                "EXECUTION_STATUS": "SUCCESS",
                "ROWS_PRODUCED": number,
                "place": f"log:{number}",
            }
        )
    return rows


def alone(rows: list[dict[str, Any]], form: str) -> list[Line]:
    text = json.dumps(rows, default=lambda value: value.isoformat())
    return list(event_lines(FORMATS[form].read(io.StringIO(text), "log"), settings(form), 1))


def together(spark: SparkSession, where: Path, form: str) -> list[Line]:
    read = FORMATS[form].row
    assert read
    frame = logged_events(read_rows(spark, str(where)), read, "log", settings(form))
    assert ", ".join(f"{one.name} {one.dataType.simpleString()}" for one in frame.schema) == EVENT_COLUMNS
    return [Flaw(row.place, row.flaw) if row.event is None else row.event.encode() for row in frame.collect()]


def placeless(lines: Sequence[Line]) -> Counter[str]:
    """The lines without the places of rows, which a table does not have."""
    found = Counter[str]()
    for line in lines:
        event: dict[str, Any] = {"flaw": line.reason} if isinstance(line, Flaw) else json.loads(line)
        event.get("run", {}).get("facets", {}).get("whence_query", {}).pop("place", None)
        found[json.dumps(event, sort_keys=True)] += 1
    return found


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return history(1_500)


@pytest.mark.parametrize("form", ["parquet", "delta", "shuffled"])
def test_the_events_are_those_of_one_process(
    spark: SparkSession, tmp_path: Path, rows: list[dict[str, Any]], form: str
) -> None:
    wanted = [
        Flaw(line.place.replace("[", ":").rstrip("]"), line.reason)
        if isinstance(line, Flaw)
        else line.replace(b'"log[', b'"log:').replace(b']"}', b'"}')
        for line in alone(rows, "snowflake")
    ]
    records = list(rows)
    random.Random(form).shuffle(records if form == "shuffled" else [])
    table = pa.Table.from_pylist(records)
    if form == "delta":
        write_deltalake(tmp_path / "t", table.slice(0, 700))
        write_deltalake(tmp_path / "t", table.slice(700), mode="append")
    else:
        (tmp_path / "t").mkdir()
        for part in range(3):
            pq.write_table(table.slice(part * 500, 500), tmp_path / "t" / f"{part}.parquet")
    found = together(spark, tmp_path / "t", "snowflake")
    temporary = sum(b'"SHOP.temp-' in line for line in wanted if isinstance(line, bytes))
    assert temporary > 100
    assert len(wanted) > 1_500
    assert Counter(map(repr, found)) == Counter(map(repr, wanted))


@pytest.mark.parametrize("path", OF_ROWS, ids=lambda path: path.name)
def test_every_export_that_is_a_table_reads_the_same(spark: SparkSession, tmp_path: Path, path: Path) -> None:
    form, file = path.stem, path
    with path.open(encoding="utf-8") as stream:
        lines = list(event_lines(FORMATS[form].read(stream, "log"), settings(form), 1))
    content = path.read_text("utf-8")
    if content.startswith("["):  # Spark's JSON source takes lines
        file = tmp_path / "lines.json"
        file.write_text("".join(json.dumps(one) + "\n" for one in json.loads(content)), "utf-8")
    found = together(spark, file, form)
    whole, read = ([line for line in some if not isinstance(line, Flaw)] for some in (lines, found))
    assert whole
    assert placeless(read) == placeless(whole)
    assert len(found) - len(read) == len(lines) - len(whole)


def test_files_of_events_and_of_flaws(spark: SparkSession, tmp_path: Path) -> None:
    read = FORMATS["queries"].row
    assert read
    bad = spark.createDataFrame(
        [("select a from t", "klingon"), ("insert into u select a from t", "duckdb")], "sql string, dialect string"
    )
    counted = write_lines(logged_events(bad, read, "history", settings("queries")), str(tmp_path / "out"))
    assert counted == {"events": 2, "flaws": 1}
    (events,) = find_event_files([tmp_path / "out" / "what=events"])
    (flaws,) = find_event_files([tmp_path / "out" / "what=flaws"])
    kinds = [json.loads(row.value)["eventType"] for row in spark.read.text(str(events)).collect()]
    assert sorted(kinds) == ["COMPLETE", "START"]
    (flaw,) = (json.loads(row.value) for row in spark.read.text(str(flaws)).collect())
    assert (flaw["place"], "klingon" in flaw["flaw"]) == ("history", True)


def test_what_cannot_be_read_says_so(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="nowhere"):
        read_rows(spark, str(tmp_path / "nowhere"))
    with pytest.raises(ArtifactError, match="no_such_table"):
        read_rows(spark, "no_such_table")
    uri = tmp_path / "t"
    write_deltalake(uri, pa.table({"a": [1]}), configuration={"delta.enableDeletionVectors": "true"})
    with pytest.raises(TableError, match="deletionVectors"):
        read_rows(spark, str(uri))
