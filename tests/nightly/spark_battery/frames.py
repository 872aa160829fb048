"""Statements of joins, set operations and Python functions."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from nightly.spark_battery.truth import IO, statement

# --- joins and sets ------------------------------------------------------------------------------------------------


@statement(
    "s26", {"name": "customers.name", "amount": "orders.amount"}, "orders.customer_id customers.id orders.status"
)
def s26_inner_join_filter(spark: SparkSession, io: IO) -> None:
    o, c = io.frame("orders"), io.frame("customers")
    o.join(c, o.customer_id == c.id).where(o.status == "paid").select(c.name, o.amount).write.mode("overwrite").parquet(
        io.path("s26")
    )


@statement(
    "s27",
    {"eur": "orders.amount rates.rate", "name": "customers.name"},
    "orders.customer_id customers.id customers.country rates.country",
)
def s27_three_way_join(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select c.name, o.amount * r.rate as eur from orders o join customers c on o.customer_id = c.id"
        " left join rates r on r.country = c.country"
    ).write.mode("overwrite").parquet(io.path("s27"))


@statement("s28", {"name": "customers.name"}, "customers.id orders.customer_id orders.amount")
def s28_semi_join(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select name from customers c where exists (select 1 from orders o where o.customer_id = c.id and o.amount > 3)"
    ).write.mode("overwrite").parquet(io.path("s28"))


@statement("s29", {"name": "customers.name"}, "customers.id orders.customer_id")
def s29_anti_join(spark: SparkSession, io: IO) -> None:
    io.frame("customers").join(io.frame("orders").withColumnRenamed("customer_id", "id"), "id", "left_anti").select(
        "name"
    ).write.mode("overwrite").parquet(io.path("s29"))


@statement("s30", {"name": "customers.name"}, "customers.id orders.customer_id orders.status")
def s30_in_subquery(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select name from customers where id in (select customer_id from orders where status = 'paid')"
    ).write.mode("overwrite").parquet(io.path("s30"))


@statement("s31", {"name": "customers.name", "share": "orders.amount"}, "orders.customer_id customers.id")
def s31_scalar_subquery(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select c.name, o.amount / (select sum(amount) from orders) as share from orders o join"
        " customers c on o.customer_id = c.id"
    ).write.mode("overwrite").parquet(io.path("s31"))


@statement("s32", {"name": "customers.name", "spent": "orders.amount"}, "", either="orders.customer_id customers.id")
def s32_correlated_scalar(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select name, (select sum(amount) from orders o where o.customer_id = c.id) as spent from customers c"
    ).write.mode("overwrite").parquet(io.path("s32"))


@statement("s33", {"a": "customers.name", "b": "customers.name"}, "customers.country customers.id")
def s33_self_join(spark: SparkSession, io: IO) -> None:
    a, b = io.frame("customers").alias("a"), io.frame("customers").alias("b")
    from pyspark.sql import functions as F

    a.join(b, (F.col("a.country") == F.col("b.country")) & (F.col("a.id") < F.col("b.id"))).select(
        F.col("a.name").alias("a"), F.col("b.name").alias("b")
    ).write.mode("overwrite").parquet(io.path("s33"))


@statement("s34", {"id": "orders.order_id customers.id", "what": "orders.status customers.segment"})
def s34_union(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select order_id as id, status as what from orders union all select id, segment from customers"
    ).write.mode("overwrite").parquet(io.path("s34"))


@statement("s35", {"id": "orders.order_id customers.id", "name": "customers.name"}, none="")
def s35_union_by_name_missing(spark: SparkSession, io: IO) -> None:
    io.frame("orders").selectExpr("order_id as id").unionByName(
        io.frame("customers").select("name", "id"), allowMissingColumns=True
    ).write.mode("overwrite").parquet(io.path("s35"))


@statement("s36", {"id": "customers.id"}, "", either="orders.customer_id customers.id")
def s36_except(spark: SparkSession, io: IO) -> None:
    io.frame("customers").select("id").exceptAll(io.frame("orders").selectExpr("customer_id as id")).write.mode(
        "overwrite"
    ).parquet(io.path("s36"))


@statement("s37", {"id": "customers.id"}, "", either="orders.customer_id customers.id")
def s37_intersect(spark: SparkSession, io: IO) -> None:
    spark.sql("select id from customers intersect select customer_id from orders").write.mode("overwrite").parquet(
        io.path("s37")
    )


@statement("s38", {"status": "orders.status"}, "", either="orders.status")
def s38_distinct(spark: SparkSession, io: IO) -> None:
    io.frame("orders").select("status").distinct().write.mode("overwrite").parquet(io.path("s38"))


@statement(
    "s39",
    {"customer_id": "orders.customer_id", "amount": "orders.amount"},
    "orders.customer_id",
    either="orders.customer_id",
)
def s39_drop_duplicates(spark: SparkSession, io: IO) -> None:
    io.frame("orders").dropDuplicates(["customer_id"]).select("customer_id", "amount").write.mode("overwrite").parquet(
        io.path("s39")
    )


@statement("s40", {"name": "customers.name", "amount": "orders.amount"})
def s40_cross_join(spark: SparkSession, io: IO) -> None:
    io.frame("customers").select("name").crossJoin(io.frame("orders").select("amount")).write.mode("overwrite").parquet(
        io.path("s40")
    )


@statement("s41", {"name": "customers.name", "total": "orders.amount"}, "orders.customer_id customers.id orders.status")
def s41_ctes_used_twice(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "with paid as (select customer_id, amount from orders where status = 'paid'), sums as (select"
        " customer_id, sum(amount) as total from paid group by customer_id)"
        " select c.name, s.total from customers c join sums s on s.customer_id = c.id where exists"
        " (select 1 from paid p where p.customer_id = c.id)"
    ).write.mode("overwrite").parquet(io.path("s41"))


@statement("s42", {"id": "customers.id", "last": "orders.day"}, "", either="orders.customer_id customers.id orders.day")
def s42_lateral_subquery(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select c.id, l.last from customers c, lateral (select max(day) as last from orders o where"
        " o.customer_id = c.id) l"
    ).write.mode("overwrite").parquet(io.path("s42"))


# --- Python functions ----------------------------------------------------------------------------------------------


@statement(
    "s43",
    {},
    opaque={"tag": "orders.status orders.amount"},
)
def s43_python_udf(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    mix = F.udf(lambda s, a: f"{s}:{a}", "string")
    io.frame("orders").select(mix("status", "amount").alias("tag")).write.mode("overwrite").parquet(io.path("s43"))


@statement("s44", {"customer_id": "orders.customer_id"}, "orders.customer_id", opaque={"total": "orders.amount"})
def s44_udf_then_aggregate(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    half = F.udf(lambda a: a / 2, "double")
    io.frame("orders").withColumn("h", half("amount")).groupBy("customer_id").agg(F.sum("h").alias("total")).write.mode(
        "overwrite"
    ).parquet(io.path("s44"))


@statement("s45", {}, opaque={"order_id": "orders.order_id orders.amount", "double": "orders.order_id orders.amount"})
def s45_map_in_pandas(spark: SparkSession, io: IO) -> None:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for one in batches:
            yield one.assign(double=one.amount * 2)[["order_id", "double"]]

    io.frame("orders").select("order_id", "amount").mapInPandas(work, "order_id long, double double").write.mode(
        "overwrite"
    ).parquet(io.path("s45"))


@statement(
    "s46",
    {},
    "orders.customer_id",
    opaque={"customer_id": "orders.customer_id orders.amount", "spread": "orders.customer_id orders.amount"},
    either="",
)
def s46_apply_in_pandas(spark: SparkSession, io: IO) -> None:
    import pandas as pd

    def work(one: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"customer_id": one.customer_id[:1], "spread": [one.amount.max() - one.amount.min()]})

    io.frame("orders").select("customer_id", "amount").groupBy("customer_id").applyInPandas(
        work, "customer_id long, spread double"
    ).write.mode("overwrite").parquet(io.path("s46"))


@statement("s47", {}, announced={"order_id": "orders.order_id orders.amount", "twice": "orders.order_id orders.amount"})
def s47_rdd_round_trip(spark: SparkSession, io: IO) -> None:
    rows = io.frame("orders").select("order_id", "amount").rdd.map(lambda r: (r.order_id, r.amount * 2))
    spark.createDataFrame(rows, "order_id long, twice double").write.mode("overwrite").parquet(io.path("s47"))


@statement("s48", {}, announced={"name": "customers.name", "n": "customers.name"})
def s48_to_pandas_and_back(spark: SparkSession, io: IO) -> None:
    frame = io.frame("customers").select("name").toPandas()
    frame["n"] = frame["name"].str.len()
    spark.createDataFrame(frame).write.mode("overwrite").parquet(io.path("s48"))
