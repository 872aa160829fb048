"""What else touches the file of the rendezvous: Spark by the listener's jar and over Connect, Airflow, Delta Lake."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
from deltalake import write_deltalake

from environments import environment
from fixtures.collectors import collecting
from whence.capture.java import java_home
from whence.capture.table_versions.source import capture_delta
from whence_client.captures import Naming, Window

HERE = Path(__file__).parent
JAR = """
import sys
from pyspark.sql import SparkSession
from whence_client.spark import attach
lake, url = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").appName("jar").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1")
spark = attach(builder, namespace="prod", url=url, jar=True).getOrCreate()
spark.read.parquet(lake + "/clean.parquet").selectExpr("amount * 4 AS by_jar").write.parquet(lake + "/by_jar")
spark.stop()
"""
CONNECT = """
import sys
from pyspark.sql import SparkSession
from whence_client.spark import attach
lake, url = sys.argv[1:]
builder = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1")
spark = attach(builder, namespace="prod", app_name="connect", url=url).getOrCreate()
frame = spark.read.parquet(lake + "/clean.parquet").selectExpr("amount * 5 AS by_connect")
frame.write.parquet(lake + "/by_connect")
spark.stop()
"""
DAG = """
from datetime import datetime
from pathlib import Path
from airflow.sdk import DAG, Asset, task
lake = Path({lake!r})
with DAG(dag_id="lake", schedule=None, start_date=datetime(2026, 11, 1), catchup=False):
    @task(
        inlets=[Asset(name=one, uri=(lake / one).as_uri()) for one in ("clean.parquet", "a%20b.csv", "ledger")],
        outlets=[Asset(name="copy", uri=(lake / "by_airflow.parquet").as_uri())],
    )
    def copy() -> None:
        (lake / "by_airflow.parquet").write_bytes((lake / "clean.parquet").read_bytes())
    copy()
"""
Event = dict[str, Any]


def by_remote_spark(lake: Path, script: str, python: str = sys.executable) -> list[Event]:
    """The events of a script of Spark whose Python is `python`."""
    with collecting() as collector:
        settings = {
            **os.environ,
            "JAVA_HOME": str(java_home()),
            "PYTHONPATH": str(HERE.parents[1] / "client/src"),
            "WHENCE_OUTBOX": str(lake / "outbox"),
        }
        done = subprocess.run(
            [python, "-c", script, str(lake), collector.url], env=settings, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return list(collector.events)


def by_jar(lake: Path) -> list[Event]:
    """The official listener on PySpark."""
    return by_remote_spark(lake, JAR)


def by_connect(lake: Path) -> list[Event]:
    """A client of Spark Connect and its local server."""
    lock = HERE / "spark_battery/connect43.lock"
    return by_remote_spark(lake, CONNECT, str(environment(lock.stem, lock) / "bin/python"))


def by_delta(lake: Path) -> list[Event]:
    """A table of Delta Lake with the rows of the file, by its history. A frame that reads it is captured meanwhile."""
    ledger = lake / "ledger"
    write_deltalake(str(ledger), pl.read_parquet(lake / "clean.parquet").to_arrow())
    source = capture_delta.configure({"tables": str(ledger)})
    naming = Naming("delta", source.instance)
    return [event for record, _ in source.records(None, Window()) for event in source.translate(record, naming)]


def by_airflow(lake: Path) -> list[Event]:
    """A task of Airflow that declares what it reads and writes, by Airflow's own provider."""
    home = lake / "airflow"
    (home / "dags").mkdir(parents=True)
    (home / "dags/lake.py").write_text(DAG.format(lake=str(lake)))
    place = environment("airflow", HERE / "producers/airflow.lock") / "bin"
    with collecting() as collector:
        transport = {"type": "http", "url": collector.url, "endpoint": "api/v1/lineage"}
        settings = {
            **os.environ,
            "PATH": os.pathsep.join((str(place), os.environ["PATH"])),
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__OPENLINEAGE__NAMESPACE": "prod",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
        }
        for words in (["db", "migrate"], ["dags", "test", "lake", "2026-11-20"]):
            done = subprocess.run(
                [str(place / "airflow"), *words], env=settings, cwd=home, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return list(collector.events)
