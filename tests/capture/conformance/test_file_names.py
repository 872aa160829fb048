"""One file is one dataset, whichever capture reports it (check 7 of a capture)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from client.tests.frames.sessions import Kept
from whence.capture.airflow.assets import name_asset
from whence.capture.mlflow.datasets import read_inputs
from whence.capture.sql import read_script
from whence.capture.sql.events.events import sql_facts
from whence.capture.sql.events.naming import Naming as SqlNaming
from whence.openlineage.names.naming import normalise
from whence_client.captures import Naming
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.runs.datasets import resolve_dataset
from whence_client.spark.capture.tables import name_path

Name = tuple[str, str]


def by_sql(path: str) -> Name:
    text = f"CREATE TABLE report AS SELECT id FROM read_csv('{path}')"
    facts = sql_facts(text, "duckdb", read_script(text, "duckdb"), SqlNaming(namespace="duckdb:///shop.db"))
    (found,) = facts.inputs
    return found.namespace, found.name


def by_declared_run(path: str) -> Name:
    return resolve_dataset(path, "shop").key


def by_spark(path: str) -> Name:
    found = name_path(path)
    return found.namespace, found.name


def by_airflow(path: str) -> Name:
    found = name_asset({"uri": path if ":" in path else f"file://{path}"}, NAMING)
    return found.namespace, found.name


def by_mlflow(path: str) -> Name:
    logged = {"source_type": "local", "source": json.dumps({"uri": path})}
    ((_, found),) = read_inputs({"inputs": {"dataset_inputs": [{"dataset": logged}]}}, NAMING, "")
    return found.namespace, found.name


CAPTURES = [by_sql, by_declared_run, by_spark, by_airflow, by_mlflow]
NAMING = Naming("prod", "https://airflow.example")
PATHS = {
    "/lake/prod/Orders ü.csv": ("file", "/lake/prod/Orders ü.csv"),
    "file:///lake/prod/orders.csv": ("file", "/lake/prod/orders.csv"),
    "file:/lake/prod/orders.csv": ("file", "/lake/prod/orders.csv"),
    "file://nas/lake/orders.csv": ("file://nas", "/lake/orders.csv"),
    "hdfs://staging:8020/lake/orders": ("hdfs://staging:8020", "/lake/orders"),
    "s3a://lake//dev/orders/": ("s3://lake", "dev/orders"),
    "gs://lake/dev/orders.parquet": ("gs://lake", "dev/orders.parquet"),
    "s3://KEY:SECRET@lake/orders": ("s3://lake", "orders"),
    "s3://lake/prod/Orders/day=2026-02-01/hour=7/": ("s3://lake", "prod/Orders"),
    "/lake/staging/orders/day=1": ("file", "/lake/staging/orders"),
    "/lake/staging/orders/*/*.parquet": ("file", "/lake/staging/orders"),
    "/lake/staging/orders/**/*.csv.gz": ("file", "/lake/staging/orders"),
    "/lake/staging/orders/part-*.parquet": ("file", "/lake/staging/orders/part-*.parquet"),
    "/lake/staging/a=b.csv": ("file", "/lake/staging/a=b.csv"),
    "/lake/staging/day=1/orders.csv": ("file", "/lake/staging/day=1/orders.csv"),
}


@pytest.mark.parametrize("capture", CAPTURES)
@pytest.mark.parametrize("path", PATHS)
def test_a_path_has_the_same_name_in_each_capture(capture: Callable[[str], Name], path: str) -> None:
    found = capture(path)
    assert found == PATHS[path]
    stored = normalise(*found)
    assert (stored.namespace, stored.name) == found


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_file_of_pandas_is_the_file_that_the_others_read(scheme: str, tmp_path: Path) -> None:
    file, session = tmp_path / "orders.csv", Kept()
    undo = PandasCapture().install(session)
    try:
        pd.DataFrame({"id": [1, 2]}).to_csv(file, index=False)
    finally:
        undo()
    (event,) = session.events
    written: Any = event["outputs"][0]
    spelling = f"{scheme}{file}"
    assert duckdb.execute(f"SELECT sum(id) FROM read_csv('{spelling}')").fetchall() == [(3,)]
    assert {capture(spelling) for capture in CAPTURES} == {(written["namespace"], written["name"])}


def test_a_percent_sign_in_sql_is_one(tmp_path: Path) -> None:
    """DuckDB reads such a path as it is written; pandas would decode it."""
    (tmp_path / "a%20b.csv").write_text("id\n7\n")
    path = f"file://{tmp_path}/a%20b.csv"
    assert duckdb.execute(f"SELECT id FROM read_csv('{path}')").fetchall() == [(7,)]
    assert by_sql(path) == ("file", f"{tmp_path}/a%20b.csv")
