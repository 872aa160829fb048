"""Statements of tables, streams and table formats."""

from pyspark.sql import DataFrame, SparkSession

from nightly.spark_battery.truth import IO, statement

# --- caching, checkpoints, views, tables ---------------------------------------------------------------------------


@statement("s49", {"order_id": "orders.order_id", "amount": "orders.amount"}, "orders.status")
def s49_cached(spark: SparkSession, io: IO) -> None:
    paid = io.frame("orders").where("status = 'paid'").cache()
    paid.count()
    paid.select("order_id", "amount").write.mode("overwrite").parquet(io.path("s49"))
    paid.unpersist()


@statement("s50", {"order_id": "orders.order_id", "name": "customers.name"}, "orders.customer_id customers.id")
def s50_local_checkpoint(spark: SparkSession, io: IO) -> None:
    o, c = io.frame("orders"), io.frame("customers")
    joined = o.join(c, o.customer_id == c.id).select("order_id", "name").localCheckpoint()
    joined.write.mode("overwrite").parquet(io.path("s50"))


@statement("s51", {"name": "customers.name", "amount": "orders.amount"}, "orders.customer_id customers.id")
def s51_temp_view_of_view(spark: SparkSession, io: IO) -> None:
    spark.sql("create or replace temporary view v1 as select * from orders o join customers c on o.customer_id = c.id")
    spark.sql("create or replace temporary view v2 as select name, amount from v1")
    spark.table("v2").write.mode("overwrite").parquet(io.path("s51"))


@statement("t52", {"id": "customers.id", "name": "customers.name"}, table=True)
def s52_save_as_table(spark: SparkSession, io: IO) -> None:
    io.frame("customers").select("id", "name").write.mode("overwrite").saveAsTable(io.table("t52"))


@statement("t53", {"country": "customers.country", "n": "customers.id"}, "customers.country", table=True)
def s53_ctas(spark: SparkSession, io: IO) -> None:
    spark.sql(
        f"create table {io.table('t53')} using parquet as select country, count(id) as n from customers"
        " group by country"
    )


@statement("t54", {"x": "orders.order_id", "y": "orders.amount"}, "orders.status", table=True)
def s54_insert_by_position(spark: SparkSession, io: IO) -> None:
    spark.sql(f"create table {io.table('t54')} (x long, y double) using parquet")
    spark.sql(f"insert into {io.table('t54')} select order_id, amount from orders where status = 'paid'")


@statement("t55", {"amount": "orders.amount", "day": "orders.day"}, table=True)
def s55_insert_overwrite_dynamic_partition(spark: SparkSession, io: IO) -> None:
    spark.sql(f"create table {io.table('t55')} (amount double, day date) using parquet partitioned by (day)")
    spark.sql(f"insert overwrite table {io.table('t55')} select amount, day from orders")


@statement("s56", {"name": "out:t52.name", "n": "out:t53.n"}, "out:t52.id out:t53.n")
def s56_read_tables_written_before(spark: SparkSession, io: IO) -> None:
    spark.table("shop.t52").join(
        spark.table("shop.t53"), spark.table("shop.t52").id == spark.table("shop.t53").n, "left"
    ).select("name", "n").write.mode("overwrite").parquet(io.path("s56"))


@statement("s57", {"total": "out:s01.total"}, "out:s01.order_id")
def s57_read_a_path_written_before(spark: SparkSession, io: IO) -> None:
    spark.read.parquet(io.path("s01")).where("order_id > 1").select("total").write.mode("overwrite").parquet(
        io.path("s57")
    )


@statement("v58", {"name": "out:base58.name", "country": "out:base58.country"}, "", table=True)
def s58_permanent_view(spark: SparkSession, io: IO) -> None:
    spark.sql("create table if not exists shop.base58 using parquet as select * from customers")
    spark.sql(f"create or replace view {io.table('v58')} as select name, country from shop.base58")


@statement("s59", {"amount": "orders.amount", "order_id": "orders.order_id"})
def s59_append_csv_with_option(spark: SparkSession, io: IO) -> None:
    io.frame("orders").select("order_id", "amount").repartition(1).write.option("header", True).mode("append").csv(
        io.path("s59")
    )


@statement("s60", {"name": "customers.name"}, "", fails=True)
def s60_fails(spark: SparkSession, io: IO) -> None:
    spark.sql("select cast(raise_error('boom ' || name) as string) as name from customers").write.mode(
        "overwrite"
    ).parquet(io.path("s60"))


@statement("s61", {"status": "orders.status", "amount": "orders.amount"}, "", either="orders.status")
def s61_partition_by_and_bucket(spark: SparkSession, io: IO) -> None:
    io.frame("orders").select("status", "amount").write.partitionBy("status").mode("overwrite").parquet(io.path("s61"))


@statement("s62", {"n": "orders.order_id", "name": "customers.name"}, "orders.customer_id customers.id customers.name")
def s62_nested_aggregate_over_join(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    o, c = io.frame("orders"), io.frame("customers")
    o.join(F.broadcast(c), o.customer_id == c.id, "right").groupBy("name").agg(
        F.countDistinct("order_id").alias("n")
    ).write.mode("overwrite").parquet(io.path("s62"))


@statement(
    "s63", {"amount": "orders.amount", "addr": "orders.addr customers.country"}, "orders.customer_id customers.id"
)
def s63_with_field_and_struct(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    o, c = io.frame("orders"), io.frame("customers")
    o.join(c, o.customer_id == c.id).select(
        "amount", F.col("addr").withField("country", F.col("country")).alias("addr")
    ).write.mode("overwrite").parquet(io.path("s63"))


@statement("s64", {"seen": "clicks.ts"}, none="now r")
def s64_no_source_columns(spark: SparkSession, io: IO) -> None:
    spark.sql("select ts as seen, current_date() as now, rand(1) as r from clicks").write.mode("overwrite").parquet(
        io.path("s64")
    )


@statement("s65", {"a": "orders.amount", "m": "orders.status orders.amount"}, "")
def s65_map_and_struct_built(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select inline.a, m from (select explode(array(named_struct('a', amount))) as inline,"
        " map(status, amount) as m from orders)"
    ).write.mode("overwrite").parquet(io.path("s65"))


@statement(
    "s66", {"order_id": "orders.order_id", "ratio": "orders.amount"}, "orders.day", either="orders.day orders.amount"
)
def s66_ratio_to_group(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "select order_id, amount / sum(amount) over (partition by day) as ratio from orders where amount is not null"
    ).write.mode("overwrite").parquet(io.path("s66"))


# --- streaming -----------------------------------------------------------------------------------------------------


@statement("s67", {"order_id": "orders.order_id", "amount": "orders.amount"}, "orders.status")
def s67_stream_file_to_file(spark: SparkSession, io: IO) -> None:
    schema = io.frame("orders").schema
    stream = (
        spark.readStream.schema(schema)
        .parquet(io.input_path("orders"))
        .where("status = 'paid'")
        .select("order_id", "amount")
    )
    query = (
        stream.writeStream.format("parquet")
        .option("checkpointLocation", io.path("s67_checkpoint"))
        .trigger(availableNow=True)
        .start(io.path("s67"))
    )
    query.awaitTermination()


@statement("s68", {"order_id": "orders.order_id", "name": "customers.name"}, "orders.customer_id customers.id")
def s68_foreach_batch(spark: SparkSession, io: IO) -> None:
    customers = io.frame("customers")
    schema = io.frame("orders").schema

    def each(frame: DataFrame, number: int) -> None:
        frame.join(customers, frame.customer_id == customers.id).select("order_id", "name").write.mode(
            "append"
        ).parquet(io.path("s68"))

    query = (
        spark.readStream.schema(schema)
        .parquet(io.input_path("orders"))
        .writeStream.foreachBatch(each)
        .option("checkpointLocation", io.path("s68_checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


# --- Delta and Iceberg ---------------------------------------------------------------------------------------------


@statement("d69", {"id": "customers.id", "name": "customers.name"}, needs="delta")
def s69_delta_write(spark: SparkSession, io: IO) -> None:
    io.frame("customers").select("id", "name").write.format("delta").mode("overwrite").save(io.path("d69"))


@statement(
    "d69",
    {"id": "orders.customer_id", "name": "orders.status"},
    "",
    needs="delta",
    either="orders.customer_id out:d69.id out:d69.name",
)
def s70_delta_merge(spark: SparkSession, io: IO) -> None:
    spark.sql(
        f"merge into delta.`{io.path('d69')}` t using (select distinct customer_id, status from orders"
        " where amount > 3) s on t.id = s.customer_id"
        " when matched then update set t.name = s.status when not matched then insert (id, name) values"
        " (s.customer_id, s.status)"
    )


@statement("d71", {"id": "out:d69.id", "name": "out:d69.name"}, needs="delta")
def s71_delta_read_and_append(spark: SparkSession, io: IO) -> None:
    frame = spark.read.format("delta").load(io.path("d69"))
    frame.write.format("delta").mode("append").save(io.path("d71"))


@statement("i72", {"id": "customers.id", "country": "customers.country"}, needs="iceberg", table=True)
def s72_iceberg_ctas(spark: SparkSession, io: IO) -> None:
    spark.sql("create table lake.shop.i72 using iceberg as select id, country from customers")


@statement(
    "i72",
    {"id": "orders.customer_id", "country": "orders.status"},
    "",
    needs="iceberg",
    table=True,
    either="orders.customer_id out:i72.id out:i72.country",
)
def s73_iceberg_merge(spark: SparkSession, io: IO) -> None:
    spark.sql(
        "merge into lake.shop.i72 t using (select distinct customer_id, status from orders) s on t.id = s.customer_id"
        " when matched then update set country = s.status when not matched then insert (id, country)"
        " values (s.customer_id, s.status)"
    )


@statement("i74", {"country": "out:i72.country", "n": "out:i72.id"}, "out:i72.country", needs="iceberg", table=True)
def s74_iceberg_write_to(spark: SparkSession, io: IO) -> None:
    from pyspark.sql import functions as F

    spark.table("lake.shop.i72").groupBy("country").agg(F.count("id").alias("n")).writeTo("lake.shop.i74").using(
        "iceberg"
    ).createOrReplace()
