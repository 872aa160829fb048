"""A job with the Python capture, in a real Spark: what it sends, that it changes nothing, and that it goes away."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from client.tests.spark.job import Event, run_job

JOB = """
import json, sys
from pyspark import SparkContext
from pyspark.sql import SparkSession
from whence_client.spark import attach
from whence_client.spark.connect.server import ROOM

base, events = sys.argv[1:]
before = (SparkContext.stop, SparkSession.newSession)
builder = SparkSession.builder.master("local[1]").appName("shop").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m")
builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
spark = attach(builder, namespace="prod", events_file=events).getOrCreate()
same = attach(SparkSession.builder, namespace="prod", events_file=events).getOrCreate() is spark
rows = [(1, 10, 5.0), (2, 11, 7.5)]
spark.createDataFrame(rows, "id int, customer int, amount double").write.parquet(base + "/täglich o'Brien")
orders = spark.read.parquet(base + "/täglich o'Brien")
orders.where("amount > 1").groupBy("customer").sum("amount").toDF("customer", "total").write.csv(base + "/totals")
orders.select("id").write.mode("append").parquet(base + "/ids")
orders.selectExpr("customer as id").write.mode("append").parquet(base + "/ids")
other = spark.newSession()
other.read.parquet(base + "/täglich o'Brien").localCheckpoint().write.parquet(base + "/kept")
try:
    orders.selectExpr("raise_error('token=hush ' || id) as id").write.parquet(base + "/failed")
except Exception:
    pass
total = orders.selectExpr("sum(amount)").first()[0]
jars = spark.conf.get("spark.jars.packages", "none")
room = [spark.conf.get(name) for name in ROOM]
spark.stop()
print(json.dumps([total, same, jars, room, (SparkContext.stop, SparkSession.newSession) == before]))
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark").resolve()


@pytest.fixture(scope="module")
def events(base: Path) -> "list[Event]":
    return run_job(JOB, base, '[12.5, true, "none", ["25", "100"], true]')


def ended(events: "list[Event]", name: str) -> "list[Event]":
    return [one for one in events if one["job"]["name"].endswith(name) and one["eventType"] in ("COMPLETE", "FAIL")]


def edges(event: Event) -> "Iterator[tuple[str, str, str]]":
    """Source column, subtype, target column (empty for all rows) of all edges."""
    for output in event["outputs"]:
        lineage = output["facets"]["columnLineage"]
        targets = [("", lineage.get("dataset", ()))]
        targets += [(name, members["inputFields"]) for name, members in lineage["fields"].items()]
        for name, sources in targets:
            for one in sources:
                for transformation in one["transformations"]:
                    yield one["field"], transformation["subtype"], name


def test_the_columns_of_an_aggregation(events: "list[Event]", base: Path) -> None:
    (event,) = ended(events, ".totals")
    assert [(one["namespace"], one["name"]) for one in event["inputs"]] == [("file", f"{base}/täglich o'Brien")]
    assert set(edges(event)) == {
        ("amount", "FILTER", ""),
        ("customer", "GROUP_BY", ""),
        ("customer", "IDENTITY", "customer"),
        ("amount", "AGGREGATION", "total"),
    }
    assert [one["name"] for one in event["outputs"][0]["facets"]["schema"]["fields"]] == ["customer", "total"]


def test_two_appends_of_an_application_are_one_run(events: "list[Event]") -> None:
    """As two runs, the second would be taken for all of the job's lineage."""
    first, second = ended(events, ".ids")
    assert first["run"]["runId"] == second["run"]["runId"]
    assert set(edges(first)) == {("id", "IDENTITY", "id")}
    assert set(edges(second)) == {("customer", "IDENTITY", "id")}


def test_another_session_and_a_checkpoint_keep_their_sources(events: "list[Event]") -> None:
    (event,) = ended(events, ".kept")
    assert {(source, target) for source, _, target in edges(event)} == {
        (one, one) for one in ("id", "customer", "amount")
    }


def test_a_failed_write_fails_its_run_and_not_the_application(events: "list[Event]") -> None:
    (event,) = ended(events, ".failed")
    assert event["eventType"] == "FAIL"
    assert "USER_RAISED_EXCEPTION" in event["run"]["facets"]["errorMessage"]["message"]
    assert "hush" not in json.dumps(events)
    (application,) = [one for one in events if one["job"]["name"] == "shop" and one["eventType"] == "COMPLETE"]
    parents = {one["run"]["facets"]["parent"]["run"]["runId"] for one in events if one["job"]["name"] != "shop"}
    assert parents == {application["run"]["runId"]}


def test_rows_that_the_driver_made_may_come_from_anywhere(events: "list[Event]") -> None:
    (event,) = ended(events, ".täglich o'Brien")
    evidence = event["outputs"][0]["facets"]["whence_columnEvidence"]["unexplained"]
    assert event["inputs"] == []
    assert {(one["field"], one["reason"]) for one in evidence} == {
        (one, "left_the_engine") for one in ("id", "customer", "amount")
    }


ENDLESS = """
import sys
from pyspark.sql import SparkSession
from whence_client.spark import attach

base, events = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").appName("shop").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m")
builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
spark = attach(builder, namespace="prod", events_file=events).getOrCreate()
spark.range(3).write.parquet(base + "/numbers")
print("written")
"""


ENDS = (("raise ValueError('odd')", 1, "FAIL"), ("", 0, "COMPLETE"))
"""What ends a job, its exit code, and the state of its run."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A job that fails; with `--long`, one that does not, too."""
    if "end" in metafunc.fixturenames:
        ends = ENDS if metafunc.config.getoption("long", default=False) else ENDS[:1]
        metafunc.parametrize(("end", "code", "state"), ends)


def test_a_job_that_does_not_stop_its_session_ends(end: str, code: int, state: str, tmp_path: Path) -> None:
    events = run_job(ENDLESS + end, tmp_path, "written", code=code)
    assert [one["eventType"] for one in events if one["job"]["name"] == "shop"] == ["START", state]
    assert ended(events, ".numbers")
