"""A file and a table that pandas, polars, DuckDB, and a real dbt, Spark (Python, jar, Connect), MLflow, Airflow, Great
Expectations and Soda touch are one dataset with one history; so is a table of Delta Lake, and a file with `%20` in its
name.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from sqlalchemy import Engine

from capture.conformance.cases import Case
from capture.conformance.running import Condition, run_job
from client.tests.frames.sessions import Kept
from environments import environment
from fixtures.captured_lineage import column_edges, store_events
from nightly.mlflow.tracking import tracking
from nightly.rendezvous_producers import by_airflow, by_connect, by_delta, by_jar
from whence.capture.dbt import capture
from whence.capture.java import java_home
from whence.capture.mlflow.source import capture as mlflow_capture
from whence.model.events import DatasetEvent, JobEvent, RunEvent
from whence.model.names import DatasetName
from whence.openlineage.accept import accept
from whence_client.captures import Naming, Window
from whence_client.duckdb.hooks import DuckdbCapture
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "tests/capture/dbt/requirements.lock"
SPARK = """
import sys
from pyspark.sql import SparkSession
from whence_client.spark import attach
lake = sys.argv[1]
builder = SparkSession.builder.master("local[1]").appName("spark").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1")
spark = attach(builder, namespace="prod", events_file=lake + "/events").getOrCreate()
spark.read.parquet(lake + "/clean.parquet").selectExpr("amount * 2 AS twice").write.parquet(lake + "/twice")
spark.stop()
"""
GREAT_EXPECTATIONS = """
import great_expectations as gx
context = gx.get_context(mode="ephemeral")
suite = context.suites.add(gx.ExpectationSuite("sound"))
suite.add_expectation(gx.expectations.ExpectColumnValuesToNotBeNull(column="amount"))
lake = context.data_sources.add_pandas_filesystem("lake", base_directory={lake!r})
data = lake.add_csv_asset("raw").add_batch_definition_path("all", path="raw.csv")
context.validation_definitions.add(gx.ValidationDefinition(name="raw", data=data, suite=suite)).run()
"""
SODA = """
from soda_core.contracts import verify_contract_locally
open("shop.yml", "w").write("type: duckdb\\nname: shop\\nconnection: {{database: {lake}/shop.duckdb}}\\n")
open("orders.yml", "w").write("dataset: shop/main/orders\\ncolumns:\\n- {{name: amount, checks: [missing: ]}}\\n")
verify_contract_locally(data_source_file_path="shop.yml", contract_file_path="orders.yml")
"""
Event = dict[str, Any]


def by_dbt(lake: Path) -> list[Event]:
    """A project whose model reads the file and is the table."""
    project = lake / "dbt"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: shop\nversion: 1.0.0\nprofile: shop\n")
    profile = {"type": "duckdb", "path": str(lake / "shop.duckdb"), "schema": "main", "threads": 1}
    profiles = {"shop": {"target": "dev", "outputs": {"dev": profile}}}
    (project / "profiles.yml").write_text(json.dumps(profiles))
    (project / "models/orders.sql").write_text(
        f"{{{{ config(materialized='table') }}}} SELECT id, amount FROM read_parquet('{lake}/clean.parquet')\n"
    )
    dbt = environment("dbt", LOCK) / "bin/dbt"
    settings = {**os.environ, "DBT_PROFILES_DIR": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    for command in (["build"], ["docs", "generate"]):
        done = subprocess.run(
            [str(dbt), "--no-version-check", "--quiet", *command, "--project-dir", str(project)],
            env=settings,
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return list(capture(project / "target"))


def by_spark(lake: Path) -> list[Event]:
    settings = {**os.environ, "JAVA_HOME": str(java_home()), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", SPARK, str(lake)], env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (lake / "events").read_text("utf-8").splitlines()]


def by_mlflow(lake: Path) -> list[Event]:
    """A run that logs the file by a relative path, polled from its server."""
    with tracking(lake) as server:
        server.run("read", "clean.parquet", WHENCE_TRANSPORT="off")
        source = mlflow_capture.configure({"uri": server.uri})
        naming = Naming("mlflow", source.instance)
        records = [record for record, _ in source.records(None, Window())]
        return [event for record in records for event in source.translate(record, naming)]


def by_checks(lake: Path, tool: str, job: str) -> list[Event]:
    """A check of the file or the table."""
    case = Case(tool, "", job.format(lake=str(lake)), frozenset(), "", environment=f"quality/{tool}.lock")
    ran = run_job(case, "succeed", Condition.WELL, lake / tool)
    assert ran.code == 0, ran.errors
    return list(ran.events)


def mentioned_in(events: Iterable[Event]) -> set[DatasetName]:
    """The datasets that events are about, as they are read."""
    found: set[DatasetName] = set()
    for event in events:
        match accept(json.dumps(event).encode()).event:
            case RunEvent(inputs=inputs, outputs=outputs) | JobEvent(inputs=inputs, outputs=outputs):
                found |= {one.name for one in (*inputs, *outputs)}
            case DatasetEvent(dataset=dataset):
                found.add(dataset.name)
    return found


def file_at(path: Path) -> DatasetName:
    """The dataset of a file."""
    return DatasetName("file", str(path))


def test_one_file_and_one_table_have_one_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sqlite_store: Engine
) -> None:
    lake = tmp_path / "prod lake ü"
    lake.mkdir()
    monkeypatch.chdir(lake)
    for name in ("raw.csv", "a%20b.csv"):
        (lake / name).write_text("id,amount\n1,2.5\n2,3.5\n")
    session = Kept()
    undos = [one.install(session) for one in (PandasCapture(), PolarsCapture(), DuckdbCapture())]
    try:
        pd.read_csv("raw.csv").to_parquet("clean.parquet")
        pd.read_csv("a%20b.csv").to_parquet("odd.parquet")
        pl.scan_parquet("clean.parquet").select(thrice=pl.col("amount") * 3).sink_parquet("thrice.parquet")
        of_dbt = by_dbt(lake)
        with duckdb.connect("shop.duckdb") as shop:
            shop.execute("COPY (SELECT amount FROM orders) TO 'exported.csv'")
    finally:
        for undo in undos:
            undo()
    checks = [
        *by_checks(lake, "great_expectations", GREAT_EXPECTATIONS),
        *by_checks(lake, "soda", SODA),
    ]
    of_mlflow, of_airflow, of_delta = by_mlflow(lake), by_airflow(lake), by_delta(lake)
    of_spark = {"spark": by_spark(lake), "jar": by_jar(lake), "connect": by_connect(lake)}
    by_system = {"frames": session.events, "dbt": of_dbt, **of_spark, "mlflow": of_mlflow, "airflow": of_airflow}
    events = [event for each in (*by_system.values(), of_delta, checks) for event in each]

    mentioned, file, odd = mentioned_in(events), file_at(lake / "clean.parquet"), file_at(lake / "a%20b.csv")
    assert {one for one in mentioned if "clean" in one.name} == {file}
    assert [system for system, each in by_system.items() if file not in mentioned_in(each)] == []
    assert {one for one in mentioned if "20b" in one.name} == {odd}
    assert [odd in mentioned_in(by_system[one]) for one in ("frames", "airflow")] == [True, True]
    table = DatasetName(f"duckdb://{lake}/shop.duckdb", "shop.main.orders")
    assert {one for one in mentioned if one.name.endswith(".main.orders")} == {table}
    assert mentioned_in(checks) == {file_at(lake / "raw.csv"), table}
    edges = column_edges(store_events(sqlite_store, events))
    assert {"raw.amount -> clean.amount", "clean.amount -> orders.amount", "clean.amount -> twice.twice"} <= edges
    assert {"clean.amount -> by_jar.by_jar", "clean.amount -> by_connect.by_connect"} <= edges
    assert "clean.amount -> thrice.thrice" in edges
    assert {one for one in mentioned if one.name.endswith("ledger")} == {file_at(lake / "ledger")}
    assert file_at(lake / "ledger") in mentioned_in(of_airflow) & mentioned_in(of_delta)
    assert "orders.amount -> exported.amount" in edges
