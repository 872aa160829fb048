"""What a session does beside plain writes: several INSERTs of one statement, variables, checkpoints joined with
themselves, recursive queries, questions that cannot be analyzed, writes that are skipped. In a real Spark.
"""

import json

import pytest
from client.tests.spark.job import Event, run_job

JOB = """
import sys
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession, functions as F
from whence_client.spark import attach

base, events = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").appName("shop").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m")
builder = builder.config("spark.sql.warehouse.dir", base + "/warehouse").config("spark.sql.shuffle.partitions", "1")
builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
spark = attach(builder, namespace="prod", events_file=events).getOrCreate()
rows = [(1, 10, 5.0, 7), (2, 11, 7.5, None)]
spark.createDataFrame(rows, "id int, customer int, amount double, above int").write.parquet(base + "/orders")
spark.createDataFrame([(3, 9.0)], "id int, amount double").write.parquet(base + "/staging")
orders, staging = spark.read.parquet(base + "/orders"), spark.read.parquet(base + "/staging")
orders.createOrReplaceTempView("orders")
staging.createOrReplaceTempView("staging")

spark.sql("create table small (id int, x double) using parquet")
spark.sql("create table large (id int, x int) using parquet")
spark.sql("from orders insert into small select id, amount where amount < 6 "
          "insert into large select id, customer where amount >= 6")

kept = orders.where("amount > 1").withColumn("gross", F.col("amount") * 2).localCheckpoint()
kept.join(kept.select("id", F.col("gross").alias("again")), "id").write.parquet(base + "/joined")

for query in ("select * from nowhere", "select nothing from orders"):
    try:
        spark.sql(query)
    except AnalysisException:
        pass
orders.select("id").write.parquet(base + "/after")

spark.sql("declare variable lowest double default 1.0")
spark.sql("declare variable fixed int default 4")
spark.sql("set var lowest = (select min(amount) from staging)")
spark.sql("select id, lowest, fixed from orders where amount > lowest").write.parquet(base + "/varied")

spark.sql("with recursive t(id, level, way) as (select id, 0, cast(customer as string) from orders where above is null "
          "union all select o.id, level + 1, concat(way, o.amount) from t join orders o on o.above = t.id) "
          "select * from t").write.parquet(base + "/levels")

spark.sql("select id from orders where exists (select * from staging s where s.id = orders.id)").write.parquet(
    base + "/existing")
nested = F.array(*(F.struct(F.col(one).alias("x"), F.struct(F.col("customer").alias("y")).alias("in"))
                   for one in ("id", "amount")))
orders.select(F.explode(nested).alias("e")).select("e.x", "e.in.y").write.parquet(base + "/nested")
orders.groupBy("customer").agg(F.max(F.struct("amount", "id")).alias("m")).select("m.amount").write.parquet(
    base + "/greatest")
mapped = orders.select(F.map_concat(F.create_map("id", "amount"), F.create_map(-F.col("id"), "above")).alias("m"))
mapped.select(F.posexplode("m").alias("at", "k", "v"), F.element_at("m", 1).alias("one"),
              F.map_keys("m").alias("keys")).select("k", "v", "one", "keys").write.parquet(base + "/mapped")
orders.select(F.struct("id", "amount").dropFields("amount").alias("s")).write.parquet(base + "/dropped")

local = spark.createDataFrame([(1, "a")], "id int, label string")
orders.join(local, "id").select("amount").write.parquet(base + "/local")

spark.sql("select amount, label from orders join (values (1, 'a')) as v(id, label) using (id)").write.parquet(
    base + "/constants")

staging.select("id").write.mode("ignore").parquet(base + "/after")
spark.sql("create table if not exists small using parquet as select id, amount x from staging")
for table in ("small", "large"):
    spark.sql(f"create view if not exists seen as select id from {table}")
orders.select("id").write.mode("overwrite").saveAsTable("daily")
spark.read.parquet(base + "/orders").select("id").write.mode("overwrite").saveAsTable("daily")
spark.sql("create database other")
spark.catalog.setCurrentDatabase("other")
orders.select("id").write.saveAsTable("moved")
spark.sql("alter table moved rename to named")
spark.catalog.setCurrentDatabase("default")
spark.sql("create table if not exists made using parquet as select id from orders")
spark.stop()
print("done")
"""


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> "list[Event]":
    return run_job(JOB, tmp_path_factory.mktemp("spark").resolve(), "done")


def written(events: "list[Event]", name: str) -> "list[Event]":
    """The ends of the runs that wrote a dataset."""
    return [
        one
        for one in events
        if one["eventType"] == "COMPLETE" and any(o["name"].endswith(name) for o in one["outputs"])
    ]


def edges(event: Event) -> "set[str]":
    """`source -> target` of each direct edge, `source -> *` of what decides all rows."""
    (output,) = event["outputs"]
    lineage = output["facets"]["columnLineage"]
    found = {f"{_source(one)} -> *" for one in lineage.get("dataset", ())}
    for name, members in lineage["fields"].items():
        for one in members["inputFields"]:
            if any(how["type"] == "DIRECT" for how in one["transformations"]):
                found.add(f"{_source(one)} -> {name}")
    return found


def _source(one: "dict[str, str]") -> str:
    return f"{one['name'].rpartition('/')[2]}.{one['field']}"


def evidence(event: Event, kind: str) -> "set[tuple[str, str]]":
    facet = event["outputs"][0]["facets"].get("whence_columnEvidence", {})
    return {(one["field"], one["reason"]) for one in facet.get(kind, ())}


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "/small": "orders.id -> id, orders.amount -> x, orders.amount -> *",
        "/large": "orders.id -> id, orders.customer -> x, orders.amount -> *",
        "/joined": "orders.id -> id, orders.customer -> customer, orders.amount -> amount, orders.above -> above, "
        "orders.amount -> gross, orders.amount -> again, orders.id -> *, orders.amount -> *",
        "/varied": "orders.id -> id, staging.amount -> lowest, orders.amount -> *, staging.amount -> *",
        "/levels": "orders.id -> id, orders.customer -> way, orders.amount -> way, orders.above -> *, orders.id -> *",
        "/existing": "orders.id -> id, orders.id -> *, staging.id -> *",
        "/dropped": "orders.id -> s",
        "/nested": "orders.id -> x, orders.amount -> x, orders.customer -> y",
        "/greatest": "orders.amount -> amount, orders.customer -> *",
        "/made": "orders.id -> id",
        "/mapped": "orders.id -> k, orders.amount -> v, orders.above -> v, orders.amount -> one, orders.above -> one, "
        "orders.id -> keys",
    }.items(),
)
def test_its_columns(events: "list[Event]", name: str, expected: str) -> None:
    found = [one for one in written(events, name) if "columnLineage" in one["outputs"][0]["facets"]]
    assert [edges(one) for one in found] == [set(expected.split(", "))]
    assert not evidence(found[0], "doubts")


def test_a_checkpoint_joined_with_itself_is_explained(events: "list[Event]") -> None:
    (event,) = written(events, "/joined")
    assert not evidence(event, "unexplained")


def test_a_constant_default_of_a_variable_has_no_source(events: "list[Event]") -> None:
    (event,) = written(events, "/varied")
    assert evidence(event, "unexplained") == {("fixed", "no_source")}


def test_rows_that_a_frame_of_the_driver_chose_are_doubted(events: "list[Event]") -> None:
    (event,) = written(events, "/local")
    assert evidence(event, "doubts") == {("amount", "left_the_engine")}


def test_values_in_a_statement_are_constants(events: "list[Event]") -> None:
    (event,) = written(events, "/constants")
    assert evidence(event, "doubts") == set()
    assert evidence(event, "unexplained") == {("label", "no_source")}


def test_a_query_that_cannot_be_analyzed_is_no_gap(events: "list[Event]") -> None:
    assert [one["job"]["name"] for one in events if "extractionError" in one["run"]["facets"]] == []


def test_a_table_has_one_job_when_it_is_created_and_when_it_exists(events: "list[Event]") -> None:
    assert {one["job"]["name"] for one in written(events, "/daily")} == {"shop.default.daily"}


def test_a_table_is_of_the_database_that_was_current(events: "list[Event]") -> None:
    """Spark reports `saveAsTable` and RENAME without the database, when another one may be current."""
    (event,) = written(events, "/moved")
    assert (event["job"]["name"], edges(event)) == ("shop.other.moved", {"orders.id -> id"})
    assert event["outputs"][0]["name"].endswith("/other.db/moved")
    (renamed,) = written(events, "/named")
    assert renamed["outputs"][0]["name"].endswith("/other.db/named")


def test_a_write_that_was_skipped_is_none(events: "list[Event]") -> None:
    assert "staging" not in json.dumps(written(events, "/after") + written(events, "/small"))
    (view,) = written(events, ".seen")
    assert "small.id -> id" in edges(view)
