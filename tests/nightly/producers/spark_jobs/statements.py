"""A user's script with one function for each kind of statement; the lineage of each is in `spark_truth.py`."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyspark.pandas as ps
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

KINDS: dict[str, Callable[["Shop"], object]] = {}


def kind(function: Callable[["Shop"], object]) -> Callable[["Shop"], object]:
    KINDS[function.__name__] = function
    return function


class Shop:
    """Two small inputs, and where outputs go."""

    def __init__(self, spark: SparkSession, base: Path) -> None:
        self.spark, self.base = spark, base

    @property
    def customers(self) -> DataFrame:
        return self.spark.read.csv(str(self.base / "customers"), header=True, inferSchema=True)

    @property
    def orders(self) -> DataFrame:
        return self.spark.read.parquet(str(self.base / "orders"))

    def out(self, name: str) -> str:
        return str(self.base / name)

    def save(self, frame: DataFrame, name: str) -> None:
        frame.write.parquet(self.out(name))

    def sql(self, text: str) -> DataFrame:
        return self.spark.sql(text)


@kind
def csv_join(s: Shop) -> None:
    s.save(s.orders.join(s.customers, "customer_id").select("order_id", "name", "amount"), "csv_join")


@kind
def window(s: Shop) -> None:
    over = Window.partitionBy("customer_id").orderBy("amount")
    s.save(s.orders.select("order_id", F.lag("day").over(over).alias("before")), "window")


@kind
def temp_view(s: Shop) -> None:
    s.orders.createOrReplaceTempView("orders_view")
    s.save(s.sql("select day, sum(amount) as total from orders_view where amount > 1 group by day"), "temp_view")


@kind
def ctas(s: Shop) -> None:
    s.orders.createOrReplaceTempView("orders_view")
    s.sql("create table t_ctas using parquet as select order_id, amount * 2 as twice from orders_view")


@kind
def insert_into(s: Shop) -> None:
    s.sql("create table t_insert (id int, day string) using parquet")
    s.orders.createOrReplaceTempView("orders_view")
    s.sql("insert into t_insert select order_id, day from orders_view")


@kind
def insert_overwrite(s: Shop) -> None:
    s.sql("create table t_overwrite (id int, day string) using parquet")
    s.orders.createOrReplaceTempView("orders_view")
    s.sql("insert overwrite table t_overwrite select order_id, upper(day) from orders_view")


@kind
def dynamic_partitions(s: Shop) -> None:
    s.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    frame = s.orders.select("order_id", "amount", "day")
    frame.write.mode("overwrite").partitionBy("day").parquet(s.out("dynamic_partitions"))


@kind
def cte_union(s: Shop) -> None:
    s.orders.createOrReplaceTempView("orders_view")
    s.customers.createOrReplaceTempView("customers_view")
    text = """with a as (select customer_id as k from orders_view), b as (select customer_id as k from customers_view)
        select k from a union all select k from b"""
    s.save(s.sql(text), "cte_union")


@kind
def semi_join(s: Shop) -> None:
    s.save(s.customers.join(s.orders, "customer_id", "left_semi").select("name"), "semi_join")


@kind
def anti_join(s: Shop) -> None:
    s.save(s.customers.join(s.orders, "customer_id", "left_anti").select("name"), "anti_join")


@kind
def cached(s: Shop) -> None:
    frame = s.orders.select("order_id", (F.col("amount") + 1).alias("more")).cache()
    frame.count()
    s.save(frame, "cached")
    frame.unpersist()


@kind
def explode_struct(s: Shop) -> None:
    frame = s.customers.select("customer_id", F.explode(F.split("name", "")).alias("letter"))
    s.save(frame.select(F.struct("customer_id", "letter").alias("pair"), "letter"), "explode_struct")


@kind
def as_json(s: Shop) -> None:
    s.customers.select("name", "country").write.json(s.out("as_json"))


@kind
def as_orc(s: Shop) -> None:
    s.customers.select("name", "country").write.orc(s.out("as_orc"))


@kind
def as_text(s: Shop) -> None:
    s.customers.select(F.concat("name", "country").alias("value")).write.text(s.out("as_text"))


@kind
def pandas_on_spark(s: Shop) -> None:
    frame = ps.read_parquet(s.out("orders"))
    frame["more"] = frame["amount"] + 1
    frame[["order_id", "more"]].to_parquet(s.out("pandas_on_spark"))


@kind
def case_when(s: Shop) -> None:
    size = F.when(F.col("amount") > 10, "big").otherwise(F.col("day"))
    s.save(s.orders.select("order_id", size.alias("size")), "case_when")


@kind
def higher_order(s: Shop) -> None:
    letters = F.transform(F.split("name", ""), lambda one: F.upper(one))
    s.save(s.customers.select(letters.alias("letters")), "higher_order")


@kind
def self_append(s: Shop) -> None:
    s.save(s.orders.select("order_id", "amount"), "self_append")
    again = s.spark.read.parquet(s.out("self_append"))
    again.select("order_id", (F.col("amount") * 2).alias("amount")).write.mode("append").parquet(s.out("self_append"))


@kind
def save_as_table(s: Shop) -> None:
    s.customers.select("customer_id", "segment").write.saveAsTable("t_saved")


@kind
def write_to(s: Shop) -> None:
    s.spark.table("t_saved").select("segment").writeTo("t_written").using("parquet").create()


@kind
def drop_duplicates(s: Shop) -> None:
    s.save(s.orders.dropDuplicates(["customer_id"]).select("customer_id", "day"), "drop_duplicates")


@kind
def udf(s: Shop) -> None:
    shout = F.udf(lambda text: text.upper())
    s.save(s.customers.select("country", shout("name").alias("loud")), "udf")


@kind
def pandas_udf(s: Shop) -> None:
    @F.pandas_udf("double")  # type: ignore[attr-defined,untyped-decorator]  # the stubs lack it
    def double(some: pd.Series) -> pd.Series:
        return some * 2.0

    s.save(s.orders.select("order_id", double("amount").alias("twice")), "pandas_udf")


@kind
def map_in_pandas(s: Shop) -> None:
    def passed(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from frames

    s.save(s.orders.select("order_id").mapInPandas(passed, "order_id int"), "map_in_pandas")


@kind
def apply_in_pandas(s: Shop) -> None:
    groups = s.orders.select("customer_id", "amount").groupBy("customer_id")
    s.save(groups.applyInPandas(lambda frame: frame, "customer_id int, amount double"), "apply_in_pandas")


@kind
def pivot(s: Shop) -> None:
    frame = s.customers.groupBy("country").pivot("segment", ["b2b", "b2c"]).agg(F.max("customer_id"))
    s.save(frame, "pivot")


@kind
def unpivot(s: Shop) -> None:
    s.save(s.customers.unpivot("customer_id", ["name", "country"], "key", "value"), "unpivot")


@kind
def rollup(s: Shop) -> None:
    s.save(s.customers.rollup("country").agg(F.max("customer_id").alias("newest")), "rollup")


@kind
def cube(s: Shop) -> None:
    s.save(s.customers.cube("country").agg(F.max("customer_id").alias("newest")), "cube")


@kind
def grouping_sets(s: Shop) -> None:
    s.customers.createOrReplaceTempView("customers_view")
    text = (
        "select country, segment, max(name) as last from customers_view group by grouping sets ((country), (segment))"
    )
    s.save(s.sql(text), "grouping_sets")


@kind
def two_distinct_counts(s: Shop) -> None:
    counts = (F.countDistinct("customer_id").alias("customers"), F.countDistinct("day").alias("days"))
    s.save(s.orders.agg(*counts), "two_distinct_counts")


@kind
def scalar_subquery(s: Shop) -> None:
    s.orders.createOrReplaceTempView("orders_view")
    s.customers.createOrReplaceTempView("customers_view")
    text = "select name, (select max(amount) from orders_view) as most from customers_view"
    s.save(s.sql(text), "scalar_subquery")


@kind
def in_subquery(s: Shop) -> None:
    s.orders.createOrReplaceTempView("orders_view")
    s.customers.createOrReplaceTempView("customers_view")
    text = "select name from customers_view where customer_id in (select customer_id from orders_view)"
    s.save(s.sql(text), "in_subquery")


@kind
def lateral_view(s: Shop) -> None:
    s.customers.createOrReplaceTempView("customers_view")
    text = "select country, letter from customers_view lateral view explode(split(name, '')) t as letter"
    s.save(s.sql(text), "lateral_view")


@kind
def except_all(s: Shop) -> None:
    s.save(s.orders.select("customer_id").exceptAll(s.customers.select("customer_id")), "except_all")


@kind
def intersect(s: Shop) -> None:
    s.save(s.orders.select("customer_id").intersect(s.customers.select("customer_id")), "intersect")


@kind
def sorted_and_cut(s: Shop) -> None:
    s.save(s.orders.orderBy("amount").limit(2).select("order_id"), "sorted_and_cut")


@kind
def star(s: Shop) -> None:
    s.save(s.customers.withColumnRenamed("name", "called").drop("segment"), "star")


@kind
def literal(s: Shop) -> None:
    s.save(s.orders.select("order_id", F.lit("2026").alias("year")), "literal")


@kind
def failing_write(s: Shop) -> None:
    s.customers.createOrReplaceTempView("customers_view")
    s.save(s.sql("select cast(raise_error('boom ' || name) as int) as x from customers_view"), "failing_write")


@kind
def dropped(s: Shop) -> None:
    s.customers.select("name").write.saveAsTable("t_dropped")
    s.sql("drop table t_dropped")


@kind
def renamed(s: Shop) -> None:
    s.customers.select("name").write.saveAsTable("t_before")
    s.sql("alter table t_before rename to t_after")


@kind
def truncated(s: Shop) -> None:
    s.customers.select("name").write.saveAsTable("t_truncated")
    s.sql("truncate table t_truncated")


@kind
def created(s: Shop) -> None:
    s.sql("create table t_created (a int) using parquet")


@kind
def view(s: Shop) -> None:
    s.sql("create view v_saved as select segment as part from t_saved")
    s.save(s.spark.table("v_saved"), "view")


@kind
def local_checkpoint(s: Shop) -> None:
    s.save(s.orders.select("order_id").localCheckpoint(), "local_checkpoint")


@kind
def through_pandas(s: Shop) -> None:
    s.save(s.spark.createDataFrame(s.orders.select("order_id").toPandas()), "through_pandas")


@kind
def to_rdd(s: Shop) -> None:
    s.save(s.orders.select("order_id").rdd.map(lambda row: (row[0] + 1,)).toDF(["next"]), "to_rdd")


@kind
def stream_to_files(s: Shop) -> None:
    stream = s.spark.readStream.schema("order_id int, amount double").parquet(s.out("orders"))
    query = stream.select("order_id").writeStream.format("parquet").option("path", s.out("stream_to_files"))
    query.option("checkpointLocation", s.out("checkpoint_1")).trigger(availableNow=True).start().awaitTermination()


@kind
def stream_by_batches(s: Shop) -> None:
    def write(frame: DataFrame, number: int) -> None:
        frame.write.mode("append").parquet(s.out("stream_by_batches"))

    stream = s.spark.readStream.schema("order_id int, amount double").parquet(s.out("orders")).select("order_id")
    query = stream.writeStream.option("checkpointLocation", s.out("checkpoint_2")).foreachBatch(write)
    query.trigger(availableNow=True).start().awaitTermination()


@kind
def strange_names(s: Shop) -> None:
    frame = s.orders.select(F.col("amount").alias("Preis €; a.b"), F.col("day").alias("größe"))
    s.save(frame, "Größe & co; drop 100%/ü 1")


def begin(s: Shop) -> None:
    """Make the inputs, out of nothing that Spark knows."""
    people = [(1, "ann", "DE", "b2b"), (2, "bob", "FR", "b2c"), (3, "cy", "DE", "b2c")]
    frame = s.spark.createDataFrame(people, "customer_id int, name string, country string, segment string")
    frame.write.csv(s.out("customers"), header=True)
    sold = [(1, 1, 10.0, "mon"), (2, 1, 20.0, "tue"), (3, 2, 5.0, "tue")]
    s.save(s.spark.createDataFrame(sold, "order_id int, customer_id int, amount double, day string"), "orders")


def session(base: Path, url: str, key: str, namespace: str) -> SparkSession:
    from whence_client.spark import attach

    builder = SparkSession.builder.master("local[1]").appName("shop script/ü").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.warehouse.dir", str(base / "wh"))
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.driver.memory", "1g")
    spark: SparkSession = attach(builder, url=url, namespace=namespace, api_key=key, jar=True).getOrCreate()
    return spark


def main(base: Path, url: str, key: str, namespace: str, only: list[str]) -> None:
    spark = session(base, url, key, namespace)
    shop = Shop(spark, base)
    begin(shop)
    failed = set()
    for name, run in KINDS.items():
        if only and name not in only:
            continue
        try:
            run(shop)
        except Exception as error:
            sys.stderr.write(f"{name} failed: {str(error)[:2000]}\n")
            failed.add(name)
    spark.stop()
    sys.stdout.write(" ".join(["failed", *sorted(failed)]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
