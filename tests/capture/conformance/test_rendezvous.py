"""One file and one table that several systems touch are one dataset with one history: the names agree byte for byte."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sqlalchemy import Engine

import whence_client as whence
from client.tests.frames.sessions import Kept
from fixtures.captured_lineage import column_edges, store_events
from whence.capture.sql_log import Settings, capture_log, format_of
from whence_client.duckdb.hooks import DuckdbCapture
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture
from whence_client.sklearn.hooks import SklearnCapture

Event = dict[str, Any]


@pytest.fixture
def session() -> Iterator[Kept]:
    made = Kept()
    undos = [one.install(made) for one in (PandasCapture(), PolarsCapture(), DuckdbCapture(), SklearnCapture())]
    yield made
    for undo in undos:
        undo()


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "prod lake ü's"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "raw.csv").write_text("id,amount\n1,2.5\n2,3.5\n3,4.5\n")
    return place


def queries_of(lake: Path) -> list[Event]:
    """The events of what a log of the database says: a query of the table, and one of the file."""
    file = str(lake / "clean.parquet").replace("'", "''")
    texts = (
        "INSERT INTO daily SELECT id, amount FROM orders",
        f"CREATE TABLE copied AS SELECT amount FROM read_parquet('{file}')",
    )
    with (lake / "queries.csv").open("w") as log:
        rows = csv.writer(log)
        rows.writerow(("sql", "dialect", "start_time", "end_time", "user", "catalog", "schema", "session", "status"))
        for text in texts:
            rows.writerow(
                (text, "duckdb", "2026-02-01 10:00:00", "2026-02-01 10:00:01", "ada", "shop", "main", 7, "success")
            )
    namespace = f"duckdb://{lake}/shop.duckdb"
    settings = Settings(dialect="duckdb", namespace=namespace, jobs="log", time=0, database="shop", schema="main")
    lines = capture_log(lake / "queries.csv", format_of("queries", ""), settings)
    return [json.loads(line) for line in lines if isinstance(line, bytes)]


def test_one_file_and_one_table_have_one_history(session: Kept, lake: Path, sqlite_store: Engine) -> None:
    pd.read_csv("raw.csv").to_parquet("clean.parquet")
    pl.scan_parquet("clean.parquet").select(pl.col("amount") * 2).sink_parquet("doubled.parquet")
    with duckdb.connect("shop.duckdb") as shop:
        shop.execute("CREATE TABLE orders AS SELECT id, amount FROM 'clean.parquet'")
        shop.execute("COPY (SELECT amount FROM orders) TO 'exported.csv'")
        shop.sql("SELECT id, amount FROM orders").df().to_csv("frame.csv", index=False)
    clean = pd.read_parquet(lake / "clean.parquet")
    model = LinearRegression().fit(clean[["id"]], clean["amount"])
    pd.DataFrame({"guess": model.predict(clean[["id"]])}).to_csv("guessed.csv", index=False)
    with whence.run("declared", session=session) as run:
        run.reads(f"file://{lake}/clean.parquet".replace(" ", "%20"))
    declared = run.reads("clean.parquet")
    events = [*session.events, *queries_of(lake)]

    mentioned = [(one["namespace"], one["name"]) for event in events for one in (*event["inputs"], *event["outputs"])]
    file, table = ("file", str(lake / "clean.parquet")), (f"duckdb://{lake}/shop.duckdb", "shop.main.orders")
    assert {one for one in mentioned if "clean" in one[1]} == {file} == {declared.key}
    assert {one for one in mentioned if one[1].endswith("orders")} == {table}
    assert mentioned.count(file) >= 5

    lines = store_events(sqlite_store, events)
    edges = column_edges(lines)
    assert {one for one in edges if one.startswith("clean.amount")} == {
        "clean.amount -> doubled.amount",
        "clean.amount -> orders.amount",
        "clean.amount -> copied.amount",
        "clean.amount -> LinearRegression.target",
    }
    assert {one for one in edges if one.startswith("orders.amount")} == {
        "orders.amount -> exported.amount",
        "orders.amount -> result.amount",
        "orders.amount -> daily.amount",
    }
    assert "raw.amount -> clean.amount" in edges


def test_a_table_of_partitions_is_one_dataset(session: Kept, lake: Path) -> None:
    """However a part of it, or all of its files, are spelled: a folder with one file or with several."""
    (lake / "x").mkdir()
    (lake / "link").symlink_to(lake, target_is_directory=True)
    frame = pd.DataFrame({"id": [1, 2, 3], "tag": ["a", "a", "b"]})
    frame.to_parquet("Orders ü", partition_cols=["tag"])
    (lake / "one/tag=a").mkdir(parents=True)
    duckdb.execute("COPY (SELECT 1 AS id) TO 'one/tag=a/only.parquet'")
    session.events.clear()
    for table in ("Orders ü", "one"):
        for spelling in (table, f"./{table}/", f"{table}/tag=a", f"{lake}/x/../{table}//tag=a/"):
            pl.scan_parquet(spelling).select("id").sink_csv("polars.csv")
            pd.read_parquet(spelling, columns=["id"]).to_csv("pandas.csv")
        duckdb.sql(f"COPY (SELECT id FROM read_parquet('{table}/*/*.parquet')) TO 'duckdb.csv'")
        duckdb.sql(f"COPY (SELECT id FROM '{table}/**/*.parquet') TO 'duckdb.csv'")
        read = {(one["namespace"], one["name"]) for event in session.events for one in event["inputs"]}
        assert read == {("file", f"{lake}/{table}")}
        assert len(session.events) == 10
        session.events.clear()
    pl.scan_parquet("one/tag=a/only.parquet").sink_csv("polars.csv")
    pd.read_parquet("link/one/tag=a/only.parquet").to_csv("pandas.csv")  # a link is a name of its own
    assert [one["inputs"][0]["name"] for one in session.events] == [
        f"{lake}/{place}/tag=a/only.parquet" for place in ("one", "link/one")
    ]
