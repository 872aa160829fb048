"""Steps of random pipelines of PySpark: rows, values, groups, windows, shapes, joins, functions, SQL and files."""

from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from client.tests.frames.interventions.draws import Draws, Step, fit

AGGREGATES = ("sum", "max", "count", "min", "avg", "stddev")


def value(d: Draws, f: Any) -> Any:
    return F.col(d.numeric(f))


def assign(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn(d.one("pqr"), value(d, f) * 2 + value(d, f))


def assign_several(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumns({"c1": value(d, f) + 1, "c2": F.coalesce(value(d, f), value(d, f))})


def select(d: Draws, f: Any, r: Any) -> Any:
    return f.select("*", (value(d, f) - value(d, f)).alias("s"), F.lit(1).alias("one"))


def mask(d: Draws, f: Any, r: Any) -> Any:
    return f.where((value(d, f) > d.number(0, 3)) | F.col(d.column(f)).isNull())


def filter_text(d: Draws, f: Any, r: Any) -> Any:
    return f.filter(f"`{d.numeric(f)}` between 1 and 5 or `{d.numeric(f)}` = 0")


def order(d: Draws, f: Any, r: Any) -> Any:
    return f.orderBy(F.col(d.column(f)).desc_nulls_last(), *f.columns[:2]).limit(d.number(3, 12))


def distinct(d: Draws, f: Any, r: Any) -> Any:
    return f.select(*dict.fromkeys((d.column(f), d.column(f)))).distinct()


def drop_missing(d: Draws, f: Any, r: Any) -> Any:
    return f.dropna(subset=[d.column(f)]) if d.one((True, False)) else f.na.drop()


def fill(d: Draws, f: Any, r: Any) -> Any:
    return f.fillna({d.numeric(f): 0})


def replace(d: Draws, f: Any, r: Any) -> Any:
    return f.replace({1: 11, 2: 12}, subset=[d.numeric(f)])


def when(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn("w", F.when(value(d, f) > 2, value(d, f)).when(value(d, f) > 1, 7).otherwise(value(d, f)))


def greatest(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn("gr", F.greatest(value(d, f), value(d, f))).withColumn("nu", F.nullif(value(d, f), F.lit(2)))


def cast(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn("ca", F.col(d.column(f)).cast("string")).withColumn("ha", F.hash(d.column(f), d.column(f)))


def strings(d: Draws, f: Any, r: Any) -> Any:
    one, two = F.col(d.text(f)), F.col(d.text(f))
    return f.withColumn("up", F.concat_ws("_", F.upper(one), F.substring(two, 1, 2)))


def split(d: Draws, f: Any, r: Any) -> Any:
    parts = F.split(d.text(f), "-")
    return (
        f.withColumn("sp", parts[0])
        .withColumn("sz", F.size(parts))
        .withColumn("rx", F.regexp_extract(d.text(f), "\\d+", 0))
    )


def contains(d: Draws, f: Any, r: Any) -> Any:
    return f.where(F.col(d.text(f)).like("%a%") | F.col(d.text(f)).rlike("one|b"))


def dates(d: Draws, f: Any, r: Any) -> Any:
    day = F.col(d.day(f))
    return f.withColumn("month", F.month(day)).withColumn("start", F.date_trunc("month", day))


def age(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn("age", F.datediff(F.col(d.day(f)), F.lit("2026-01-01"))).withColumn(
        "dow", F.date_format(d.day(f), "E")
    )


def group(d: Draws, f: Any, r: Any) -> Any:
    key, measured = d.column(f), d.numeric(f)
    fit(key != measured)
    made = getattr(F, d.one(AGGREGATES))
    return f.groupBy(key).agg(made(measured).alias("v"), F.count("*").alias("n"), F.countDistinct(measured).alias("nd"))


def group_expression(d: Draws, f: Any, r: Any) -> Any:
    return f.groupBy((value(d, f) > 2).alias("big")).agg(F.sum(F.when(value(d, f) > 1, value(d, f))).alias("ge"))


def group_sets(d: Draws, f: Any, r: Any) -> Any:
    one, two, measured = d.text(f), d.column(f), d.numeric(f)
    fit(len({one, two, measured}) == 3)
    return getattr(f, d.one(("rollup", "cube")))(one, two).agg(F.sum(measured).alias("gs"), F.grouping(one).alias("gi"))


def group_lists(d: Draws, f: Any, r: Any) -> Any:
    key = d.text(f)
    made = f.groupBy(key).agg(
        F.sort_array(F.collect_set(value(d, f))).alias("cs"), F.max_by(value(d, f), value(d, f)).alias("mb")
    )
    return made.withColumn("cs", F.element_at(F.concat("cs", F.array(F.lit(0.0))), 1))


def totals(d: Draws, f: Any, r: Any) -> Any:
    return f.agg(F.sum(value(d, f)).alias("ts"), F.max(d.column(f)).alias("tm"), F.count("*").alias("tc"))


def counts(d: Draws, f: Any, r: Any) -> Any:
    return f.groupBy(d.text(f)).count().where("count > 2")


def window(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn("t", F.sum(value(d, f)).over(Window.partitionBy(d.column(f))))


def window_order(d: Draws, f: Any, r: Any) -> Any:
    spec = Window.partitionBy(d.text(f)).orderBy(d.column(f), d.numeric(f), d.numeric(f))
    return f.withColumn("rk", F.rank().over(spec)).withColumn("cs2", F.sum(value(d, f)).over(spec))


def window_first(d: Draws, f: Any, r: Any) -> Any:
    spec = Window.partitionBy(d.text(f)).orderBy(F.col(d.column(f)).desc(), *f.columns)
    return f.withColumn("rn", F.row_number().over(spec)).where("rn = 1").drop("rn")


def window_lag(d: Draws, f: Any, r: Any) -> Any:
    spec = Window.orderBy(d.column(f), *f.columns)
    return f.withColumn("lg", F.lag(value(d, f)).over(spec) - value(d, f))


def pivot(d: Draws, f: Any, r: Any) -> Any:
    index, across, measured = d.column(f), d.text(f), d.numeric(f)
    fit(len({index, across, measured}) == 3)
    return f.groupBy(index).pivot(across).agg(getattr(F, d.one(("sum", "max")))(measured))


def pivot_values(d: Draws, f: Any, r: Any) -> Any:
    index, across, measured = d.column(f), d.text(f), d.numeric(f)
    fit(len({index, across, measured}) == 3)
    return f.groupBy(index).pivot(across, ["a", "b"]).agg(F.sum(measured).alias("s"), F.count("*").alias("c"))


def unpivot(d: Draws, f: Any, r: Any) -> Any:
    kept, one, two = d.text(f), d.numeric(f), d.numeric(f)
    fit(one != two)
    made = f.select(kept, F.col(one).cast("double").alias(one), F.col(two).cast("double").alias(two))
    return made.unpivot([kept], [one, two], "variable", "value")


def explode(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn("ex", F.explode(F.split(d.text(f), "-")))


def generate(d: Draws, f: Any, r: Any) -> Any:
    return f.select("*", F.posexplode_outer(F.array(value(d, f), value(d, f))).alias("pos", "item"))


def structs(d: Draws, f: Any, r: Any) -> Any:
    made = f.withColumn("st", F.struct(F.col(d.column(f)).alias("o"), F.col(d.numeric(f)).alias("p")))
    return made.withColumn("fi", F.col("st.p") + 1).drop("st")


def higher_order(d: Draws, f: Any, r: Any) -> Any:
    made = F.transform(F.array(value(d, f), value(d, f)), lambda one: one * 2)
    return f.withColumn("ho", F.aggregate(made, F.lit(0.0), lambda total, one: total + F.coalesce(one, F.lit(0.0))))


def maps(d: Draws, f: Any, r: Any) -> Any:
    return f.withColumn("mp", F.create_map(F.lit("k"), value(d, f))["k"])


def join(d: Draws, f: Any, r: Any) -> Any:
    fit("key" in f.columns and "label" not in f.columns)
    return f.join(r, "key", d.one(("inner", "left", "right", "full", "left_semi", "left_anti")))


def join_condition(d: Draws, f: Any, r: Any) -> Any:
    other = r.select([F.col(one).alias(f"j_{one}") for one in r.columns])
    fit("j_key" not in f.columns)
    return f.join(other, (F.col(d.numeric(f)) > F.col("j_weight")) & (F.col("j_key") > 1), d.one(("inner", "left")))


def self_join(d: Draws, f: Any, r: Any) -> Any:
    key, measured = d.text(f), d.numeric(f)
    other = f.groupBy(F.col(key).alias("sj_key")).agg(F.max(measured).alias("sj"))
    fit("sj" not in f.columns)
    return f.join(other, F.col(key) == F.col("sj_key"), "left").drop("sj_key")


def cross(d: Draws, f: Any, r: Any) -> Any:
    fit("cl" not in f.columns)
    return f.limit(5).crossJoin(r.select(F.col("label").alias("cl")))


def union(d: Draws, f: Any, r: Any) -> Any:
    return f.unionByName(r.withColumnRenamed("weight", "y"), allowMissingColumns=True)


def set_operation(d: Draws, f: Any, r: Any) -> Any:
    one = f.select(value(d, f).cast("int").alias("so"))
    return getattr(one, d.one(("subtract", "intersect", "exceptAll")))(r.select(F.col("weight").cast("int")))


def python_function(d: Draws, f: Any, r: Any) -> Any:
    twice = F.udf(lambda one, two: None if one is None or two is None else float(one) * 2 + float(two), "double")
    return f.withColumn("ud", twice(value(d, f), value(d, f)))


def subquery(d: Draws, f: Any, r: Any) -> Any:
    spark = f.sparkSession
    f.createOrReplaceTempView("f")
    r.createOrReplaceTempView("r")
    one = d.numeric(f)
    return spark.sql(f"SELECT *, (SELECT max(weight) FROM r) AS sq FROM f WHERE `{one}` IN (SELECT weight FROM r)")


def common_table(d: Draws, f: Any, r: Any) -> Any:
    f.createOrReplaceTempView("f")
    key, measured = d.text(f), d.numeric(f)
    text = (
        f"WITH t AS (SELECT `{key}` AS k, sum(`{measured}`) AS s FROM f GROUP BY 1), u AS (SELECT * FROM t WHERE s > 3)"
    )
    return f.sparkSession.sql(f"{text} SELECT a.k, a.s, b.s AS s2 FROM t a LEFT JOIN u b ON a.k = b.k")


def exists(d: Draws, f: Any, r: Any) -> Any:
    f.createOrReplaceTempView("f")
    r.createOrReplaceTempView("r")
    one = d.numeric(f)
    return f.sparkSession.sql(
        f"SELECT * FROM f WHERE EXISTS (SELECT 1 FROM r WHERE r.weight = f.`{one}` AND r.label <> 'u')"
    )


def cached(d: Draws, f: Any, r: Any) -> Any:
    return f.localCheckpoint() if d.one((True, False)) else f.cache()


def names(d: Draws, f: Any, r: Any) -> Any:
    return f.toDF(*(f"{one} ü." if number == 0 else one for number, one in enumerate(f.columns))).toDF(*f.columns)


def rename(d: Draws, f: Any, r: Any) -> Any:
    fit("renamed" not in f.columns)
    return f.withColumnRenamed(d.column(f), "renamed")


def drop(d: Draws, f: Any, r: Any) -> Any:
    fit(len(f.columns) > 2)
    return f.drop(d.column(f))


def through_file(d: Draws, f: Any, r: Any) -> Any:
    place = str(d.folder / f"middle {d.number(0, 1 << 30)}.parquet")
    f.write.mode("overwrite").parquet(place)
    return f.sparkSession.read.parquet(place)


STEPS: tuple[Step, ...] = tuple(
    one
    for name, one in list(globals().items())
    if callable(one) and getattr(one, "__module__", "") == __name__ and one is not value
)
