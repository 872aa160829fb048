"""Statements of projections, aggregations and windows."""

from pyspark.sql import SparkSession

from nightly.spark_battery.truth import IO, statement

# --- projections ---------------------------------------------------------------------------------------------------


@statement("s01", {"order_id": "orders.order_id", "total": "orders.amount"})
def s01_rename(spark: SparkSession, io: IO) -> None:
    io.frame("orders").withColumnRenamed("amount", "total").select("order_id", "total").write.mode("overwrite").parquet(
        io.path("s01")
    )


@statement("s02", {"gross": "orders.amount", "label": "orders.status orders.order_id"}, none="fixed")
def s02_expressions_and_literal(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    o = io.frame("orders")
    o.select(
        (F.col("amount") * 1.2).alias("gross"),
        F.concat_ws("-", "status", F.col("order_id").cast("string")).alias("label"),
        F.lit(7).alias("fixed"),
    ).write.mode("overwrite").parquet(io.path("s02"))


@statement("s03", {"size": "orders.amount"}, "orders.status", either="orders.amount")
def s03_case_when(spark: SparkSession, io: IO) -> None:
    spark.sql("select case when status = 'paid' then amount else 0 end as size from orders").write.mode(
        "overwrite"
    ).parquet(io.path("s03"))


@statement("s04", {"city": "orders.addr", "zip": "orders.addr", "first_tag": "orders.tags", "k": "orders.props"})
def s04_nested(spark: SparkSession, io: IO) -> None:
    spark.sql("select addr.city, addr.zip, get(tags, 0) as first_tag, props['k'] as k from orders").write.mode(
        "overwrite"
    ).parquet(io.path("s04"))


@statement("s05", {"order_id": "orders.order_id", "tag": "orders.tags"}, either="orders.tags")
def s05_explode(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    io.frame("orders").select("order_id", F.explode("tags").alias("tag")).write.mode("overwrite").parquet(
        io.path("s05")
    )


@statement("s06", {"order_id": "orders.order_id", "pos": "orders.tags", "tag": "orders.tags"}, either="orders.tags")
def s06_lateral_view_posexplode(spark: SparkSession, io: IO) -> None:
    spark.sql("select order_id, pos, tag from orders lateral view outer posexplode(tags) x as pos, tag").write.mode(
        "overwrite"
    ).parquet(io.path("s06"))


@statement("s07", {"u": "clicks.payload", "page": "clicks.payload", "hour": "clicks.ts"})
def s07_from_json(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    c = io.frame("clicks").withColumn("p", F.from_json("payload", "u long, page string"))
    c.select("p.u", "p.page", F.hour("ts").alias("hour")).write.mode("overwrite").parquet(io.path("s07"))


@statement("s08", {"Id": "weird.Id", "weird~col": "weird.weird~col", "a.b": "weird.a.b"})
def s08_hostile_names(spark: SparkSession, io: IO) -> None:
    io.frame("weird").select("Id", "`weird col`", "`a.b`").write.mode("overwrite").parquet(io.path("s08"))


@statement("s09", {"doubled": "orders.tags", "total": "orders.tags orders.amount"})
def s09_higher_order(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select transform(tags, x -> concat(x, x)) as doubled, aggregate(tags, amount, (acc, x) -> acc"
        " + length(x)) as total from orders"
    ).write.mode("overwrite").parquet(io.path("s09"))


@statement(
    "s10",
    {
        "order_id": "orders.order_id",
        "amount": "orders.amount",
        "customer_id": "orders.customer_id",
        "status": "orders.status",
        "tags": "orders.tags",
        "addr": "orders.addr",
        "props": "orders.props",
    },
)
def s10_drop_column(spark: SparkSession, io: IO) -> None:
    io.frame("orders").drop("day").write.mode("overwrite").json(io.path("s10"))


@statement("s11", {"a": "orders.amount", "b": "orders.amount"}, "orders.day orders.status")
def s11_chain_of_with_column(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    o = (
        io.frame("orders")
        .where("status <> 'void'")
        .withColumn("a", F.col("amount") + 1)
        .withColumn("b", F.col("a") * 2)
    )
    o.where(F.col("day") > "2026-11-01").select("a", "b").write.mode("overwrite").parquet(io.path("s11"))


@statement("s12", {"best": "orders.amount customers.segment"}, "orders.customer_id customers.id")
def s12_coalesce_over_join(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select coalesce(cast(o.amount as string), c.segment) as best from orders o left join customers"
        " c on o.customer_id = c.id"
    ).write.mode("overwrite").parquet(io.path("s12"))


# --- aggregation ---------------------------------------------------------------------------------------------------


@statement(
    "s13",
    {"customer_id": "orders.customer_id", "total": "orders.amount", "n_paid": "orders.status"},
    "orders.customer_id",
    none="n",
    either="orders.status",
)
def s13_group_by(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select customer_id, sum(amount) as total, count(*) as n, count_if(status = 'paid') as n_paid"
        " from orders group by customer_id"
    ).write.mode("overwrite").parquet(io.path("s13"))


@statement(
    "s14",
    {"country": "customers.country", "segment": "customers.segment", "n": "customers.id"},
    "customers.country customers.segment",
)
def s14_rollup(spark: SparkSession, io: IO) -> None:
    spark.sql("select country, segment, count(id) as n from customers group by rollup(country, segment)").write.mode(
        "overwrite"
    ).parquet(io.path("s14"))


@statement(
    "s15",
    {"country": "customers.country", "n": "customers.id"},
    "customers.country customers.segment",
    either="customers.segment",
)
def s15_cube_with_having(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select country, count(distinct id) as n from customers group by cube(country, segment) having count(id) > 0"
    ).write.mode("overwrite").parquet(io.path("s15"))


@statement(
    "s16", {"a": "customers.name", "b": "customers.segment", "country": "customers.country"}, "customers.country"
)
def s16_two_distinct_counts(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select country, count(distinct name) as a, count(distinct segment) as b from customers group by country"
    ).write.mode("overwrite").parquet(io.path("s16"))


@statement(
    "s17",
    {"customer_id": "orders.customer_id", "paid": "orders.amount", "open": "orders.amount"},
    "orders.customer_id orders.status",
)
def s17_pivot(spark: SparkSession, io: IO) -> None:
    io.frame("orders").groupBy("customer_id").pivot("status", ["paid", "open"]).sum("amount").write.mode(
        "overwrite"
    ).parquet(io.path("s17"))


@statement("s18", {"id": "customers.id", "field": "", "value": "customers.name customers.country"}, either="")
def s18_unpivot(spark: SparkSession, io: IO) -> None:
    io.frame("customers").unpivot(["id"], ["name", "country"], "field", "value").write.mode("overwrite").parquet(
        io.path("s18")
    )


@statement(
    "s19",
    {"day": "orders.day", "p": "orders.amount", "ids": "orders.order_id", "first_status": "orders.status"},
    "orders.day",
)
def s19_many_aggregates(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select day, percentile_approx(amount, 0.5) as p, collect_set(order_id) as ids, first(status)"
        " as first_status from orders group by day"
    ).write.mode("overwrite").parquet(io.path("s19"))


@statement("s20", {"total": "orders.amount"}, "orders.status")
def s20_filter_clause(spark: SparkSession, io: IO) -> None:
    spark.sql("select sum(amount) filter (where status = 'paid') as total from orders").write.mode("overwrite").parquet(
        io.path("s20")
    )


@statement(
    "s21", {"customer_id": "orders.customer_id", "best_day": "orders.day"}, "orders.customer_id", either="orders.amount"
)
def s21_max_by(spark: SparkSession, io: IO) -> None:
    spark.sql("select customer_id, max_by(day, amount) as best_day from orders group by customer_id").write.mode(
        "overwrite"
    ).parquet(io.path("s21"))


# --- windows and order ---------------------------------------------------------------------------------------------


@statement(
    "s22",
    {"order_id": "orders.order_id", "run": "orders.amount", "prev": "orders.status"},
    "orders.customer_id orders.day",
    none="rn",
)
def s22_windows(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select order_id, sum(amount) over (partition by customer_id order by day) as run, lag(status)"
        " over (partition by customer_id order by day) as prev,"
        " row_number() over (partition by customer_id order by day) as rn from orders"
    ).write.mode("overwrite").parquet(io.path("s22"))


@statement(
    "s23", {"order_id": "orders.order_id", "amount": "orders.amount"}, "orders.customer_id orders.amount", either=""
)
def s23_latest_by_window(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    w = Window.partitionBy("customer_id").orderBy(F.desc("amount"))
    io.frame("orders").withColumn("rn", F.row_number().over(w)).where("rn = 1").select("order_id", "amount").write.mode(
        "overwrite"
    ).parquet(io.path("s23"))


@statement("s24", {"order_id": "orders.order_id"}, "orders.amount orders.day")
def s24_order_and_limit(spark: SparkSession, io: IO) -> None:
    io.frame("orders").orderBy("amount", "day").limit(2).select("order_id").write.mode("overwrite").parquet(
        io.path("s24")
    )


@statement("s25", {"start": "clicks.ts", "n": "clicks.id"}, "clicks.ts")
def s25_time_window(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    c = io.frame("clicks").groupBy(F.window("ts", "1 hour").alias("w")).agg(F.count("id").alias("n"))
    c.select(F.col("w.start").alias("start"), "n").write.mode("overwrite").parquet(io.path("s25"))
