"""A program that makes sessions of Spark and knows nothing of Whence, under `whence run`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from whence.capture.java import java_home

START = """
import sys
from pyspark.sql import SparkSession

def session():
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    return builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m").getOrCreate()

session().range(3).selectExpr("id", "id * 2 AS twice").write.parquet("numbers")
"""
JOB = """
session().read.parquet("numbers").where("id > 1").selectExpr("twice AS x").write.parquet("seen")
if sys.argv[1:]:
    from whence_client.spark import attach

    attach(session(), namespace="own", app_name="shop")
    session().read.parquet("numbers").selectExpr("id AS y").write.parquet("attached")
print(len(session().read.parquet("seen").collect()))
"""
FRAMES = """
import polars as pl

chosen = session().read.parquet("numbers").where("id > 0")
frame, table = chosen.toPandas(), chosen.select("twice").toArrow()
session().createDataFrame(frame.rename(columns={"twice": "z"})).select("z").write.parquet("back")
session().stop()
frame.to_csv("frame.csv", index=False)
pl.from_arrow(table).write_parquet("table")
print(len(frame))
"""


def run_job(folder: Path, text: str, *words: str) -> "tuple[list[str], list[dict[str, Any]]]":
    """The lines that the job printed, and its events."""
    (folder / "job.py").write_text(START + text)
    events = folder / "events.jsonl"
    settings = {
        "JAVA_HOME": str(java_home()),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "WHENCE_OUTBOX": str(folder / "outbox"),
        "OPENLINEAGE__TRANSPORT": json.dumps({"type": "file", "log_file_path": str(events)}),
    }
    command = [sys.executable, "-m", "whence_client.trace", "job.py", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines(), [json.loads(line) for line in events.read_text("utf-8").splitlines()]


def writes(events: "list[dict[str, Any]]") -> "list[str]":
    """`parent > job: source -> target` for each column that a run wrote."""
    found = []
    for event in (one for one in events if one["eventType"] == "COMPLETE"):
        parent = event["run"]["facets"].get("parent", {}).get("job", {}).get("name")
        for output in event["outputs"]:
            for name, column in output["facets"].get("columnLineage", {"fields": {}})["fields"].items():
                direct = [
                    one
                    for one in column["inputFields"]
                    if any(way["type"] == "DIRECT" for way in one.get("transformations", ()))
                ]
                sources = ", ".join(f"{Path(one['name']).name}.{one['field']}" for one in direct)
                found.append(f"{parent} > {event['job']['name'].partition('.')[0]}: {sources} -> {name}")
    return found


def test_its_writes_are_runs_below_that_of_the_script(tmp_path: Path) -> None:
    printed, events = run_job(tmp_path, JOB)
    assert printed == ["1"]
    assert writes(events) == ["job > job: numbers.twice -> x"]
    assert [one["eventType"] for one in events if one["job"]["name"] == "job"] == ["START", "COMPLETE"]
    assert {one["run"]["facets"]["parent"]["job"]["name"] for one in events if one["outputs"]} == {"job"}


def test_what_it_attaches_itself_counts(tmp_path: Path) -> None:
    printed, events = run_job(tmp_path, JOB, "attach")
    assert printed == ["1"]
    assert writes(events) == ["job > job: numbers.twice -> x", "shop > shop: numbers.id -> y"]
    assert [
        one["eventType"]
        for one in events
        if one["job"] | {"facets": 0} == {"namespace": "own", "name": "shop", "facets": 0}
    ] == [
        "START",
        "COMPLETE",
    ]


def test_rows_that_leave_spark_and_come_back_keep_their_lineage(tmp_path: Path) -> None:
    """Also after the session was stopped."""
    printed, events = run_job(tmp_path, FRAMES)
    assert printed == ["2"]
    assert sorted(writes(events)) == [
        "job > job: numbers.id -> id",
        "job > job: numbers.twice -> twice",
        "job > job: numbers.twice -> twice",
        "job > job: numbers.twice -> z",
    ]
    rows = [
        {f"{Path(one['name']).name}.{one['field']}" for one in output["facets"]["columnLineage"].get("dataset", ())}
        for event in events
        for output in event["outputs"]
        if Path(output["name"]).name in ("frame.csv", "table")
    ]
    assert rows == [{"numbers.id"}, {"numbers.id"}]
