"""Steps of random pipelines of polars, each over a LazyFrame: rows, values, groups, shapes, joins, functions, files.

Each step ends with an order that does not depend on chance; `reads` of columns and types collect the schema only.
"""

from typing import Any

import polars as pl
import polars.selectors as cs
from client.tests.frames.interventions.draws import Draws, Step, fit, types_of

AGGREGATES = ("sum", "max", "count", "n_unique", "first", "median")


def value(d: Draws, f: Any) -> pl.Expr:
    return pl.col(d.numeric(f))


def assign(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns((value(d, f) * 2 + value(d, f)).alias(d.one("pqr")))


def select(d: Draws, f: Any, r: Any) -> Any:
    return f.select(d.column(f), s=value(d, f) - value(d, f), t=pl.lit(1))


def selectors(d: Draws, f: Any, r: Any) -> Any:
    return f.select(cs.string() | cs.datetime(), cs.numeric().fill_null(0).name.suffix("_n"))


def mask(d: Draws, f: Any, r: Any) -> Any:
    return f.filter((value(d, f) > d.number(0, 3)) | (value(d, f) < 1), pl.col(d.column(f)).is_not_null())


def isin(d: Draws, f: Any, r: Any) -> Any:
    return f.filter(value(d, f).cast(pl.Int64).is_in(r.collect()["weight"].implode()))


def above_mean(d: Draws, f: Any, r: Any) -> Any:
    return f.filter(value(d, f) > value(d, f).mean())


def over_filter(d: Draws, f: Any, r: Any) -> Any:
    return f.filter(value(d, f).max().over(d.column(f)) > 3)


def order(d: Draws, f: Any, r: Any) -> Any:
    by = list(dict.fromkeys((d.column(f), d.column(f))))
    return f.sort(by, maintain_order=True, descending=d.one((True, False))).head(d.number(3, 12))


def largest(d: Draws, f: Any, r: Any) -> Any:
    return f.with_row_index("row").top_k(d.number(3, 9), by=[d.numeric(f), "row"]).sort("row").drop("row")


def distinct(d: Draws, f: Any, r: Any) -> Any:
    return f.unique(subset=[d.column(f)], keep=d.one(("first", "last")), maintain_order=True)


def drop_missing(d: Draws, f: Any, r: Any) -> Any:
    return f.drop_nulls(d.column(f)) if d.one((True, False)) else f.drop_nulls()


def part(d: Draws, f: Any, r: Any) -> Any:
    return f.slice(d.number(0, 3), d.number(4, 12))


def every(d: Draws, f: Any, r: Any) -> Any:
    return f.gather_every(2).with_row_index(d.one(("i1", "i2")))


def when(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(w=pl.when(value(d, f) > 2).then(value(d, f)).otherwise(value(d, f)))


def cases(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(cs1=pl.when(value(d, f) > 3).then(1).when(value(d, f) > 1).then(value(d, f)))


def coalesce(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(co=pl.coalesce(value(d, f), value(d, f)), mh=pl.max_horizontal(value(d, f), value(d, f)))


def scaled(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(z=(value(d, f) - value(d, f).mean()) / value(d, f).std())


def fill(d: Draws, f: Any, r: Any) -> Any:
    return f.fill_null(0) if d.one((True, False)) else f.with_columns(value(d, f).forward_fill())


def cut(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(bin=value(d, f).cut([1, 4]).cast(pl.String), sg=value(d, f).sign())


def shift(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(s=value(d, f).shift(1) - value(d, f).diff(), cm=value(d, f).cum_sum())


def rank(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(rk=value(d, f).rank("dense"), rl=value(d, f).rle_id())


def rolling(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(roll=value(d, f).rolling_sum(2, min_samples=1), ew=value(d, f).ewm_mean(span=3))


def rolling_time(d: Draws, f: Any, r: Any) -> Any:
    day = d.day(f)
    return f.sort(day, maintain_order=True).with_columns(rt=value(d, f).sum().rolling(day, period="20d"))


def sort_by(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(sb=value(d, f).sort_by(d.column(f)), ga=value(d, f).get(value(d, f).arg_max()))


def replace(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(rp=value(d, f).replace_strict({1: 10, 2: 20}, default=value(d, f)))


def strings(d: Draws, f: Any, r: Any) -> Any:
    one, two = pl.col(d.text(f)), pl.col(d.text(f))
    return f.with_columns(up=one.str.to_uppercase() + "_" + two.str.slice(0, 2), cc=pl.concat_str(one, two))


def extract(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(ex=pl.col(d.text(f)).str.extract(r"(\w)-"), le=pl.col(d.text(f)).str.len_chars())


def split(d: Draws, f: Any, r: Any) -> Any:
    parts = pl.col(d.text(f)).str.split("-")
    return f.with_columns(parts.list.first().alias("lf"), parts.list.len().alias("ll"))


def contains(d: Draws, f: Any, r: Any) -> Any:
    return f.filter(pl.col(d.text(f)).str.contains(d.one(("a", "one", "q"))))


def dates(d: Draws, f: Any, r: Any) -> Any:
    day = pl.col(d.day(f))
    return f.with_columns(month=day.dt.month(), start=day.dt.truncate("1d"), age=(day - day.min()).dt.total_days())


def structs(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(st=pl.struct(d.column(f), d.numeric(f))).unnest("st", separator="_")


def fields(d: Draws, f: Any, r: Any) -> Any:
    name = d.numeric(f)
    return f.with_columns(fi=pl.struct(pl.col(d.column(f)).alias("o"), pl.col(name).alias("p")).struct.field("p") + 1)


def lists(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(ls=pl.concat_list(value(d, f), value(d, f)).list.eval(pl.element() * 2).list.sum())


def element_filter(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(fs=value(d, f).filter(value(d, f) > 2).sum(), an=(value(d, f) > 8).any())


def group(d: Draws, f: Any, r: Any) -> Any:
    key, measured = d.column(f), d.numeric(f)
    fit(key != measured)
    how = d.one(AGGREGATES)
    return f.group_by(key, maintain_order=True).agg(getattr(pl.col(measured), how)().alias("v"), pl.len().alias("n"))


def group_values(d: Draws, f: Any, r: Any) -> Any:
    key = d.text(f)
    chosen = value(d, f).filter(value(d, f) > 1)
    made = f.group_by(key, maintain_order=True).agg(chosen.sum().alias("gv"), value(d, f).sort().alias("all"))
    return made.with_columns(pl.col("all").list.get(0, null_on_oob=True))


def group_first(d: Draws, f: Any, r: Any) -> Any:
    return f.group_by(d.text(f), maintain_order=True).agg(fo=value(d, f).sort_by(value(d, f)).first())


def group_expression(d: Draws, f: Any, r: Any) -> Any:
    return f.group_by(big=value(d, f) > 2, maintain_order=True).agg(ge=value(d, f).mean())


def group_all(d: Draws, f: Any, r: Any) -> Any:
    return f.group_by(d.text(f), maintain_order=True).agg(cs.numeric().sum().name.prefix("sum_"))


def group_head(d: Draws, f: Any, r: Any) -> Any:
    return f.group_by(d.column(f), maintain_order=True).head(2)


def dynamic(d: Draws, f: Any, r: Any) -> Any:
    day = d.day(f)
    return f.sort(day, maintain_order=True).group_by_dynamic(day, every="30d").agg(value(d, f).sum().alias("dy"))


def rolling_group(d: Draws, f: Any, r: Any) -> Any:
    day = d.day(f)
    return f.sort(day, maintain_order=True).rolling(day, period="15d").agg(ro=value(d, f).sum())


def window(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(t=value(d, f).sum().over(d.column(f)), to=value(d, f).shift().over(d.column(f)))


def window_order(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(wo=value(d, f).cum_sum().over(d.text(f), order_by=d.column(f)))


def window_explode(d: Draws, f: Any, r: Any) -> Any:
    key = d.text(f)
    return f.select(key, pl.col(d.numeric(f)).sort().over(key, mapping_strategy="explode").alias("we"))


def totals(d: Draws, f: Any, r: Any) -> Any:
    return f.select(mn=value(d, f).min(), mx=value(d, f).max(), n=pl.len(), nu=pl.col(d.column(f)).n_unique())


def counts(d: Draws, f: Any, r: Any) -> Any:
    return f.select(pl.col(d.text(f)).value_counts(sort=False).alias("vc")).unnest("vc").sort(pl.all())


def unpivot(d: Draws, f: Any, r: Any) -> Any:
    kept = d.text(f)
    return f.unpivot(list(dict.fromkeys((d.numeric(f), d.numeric(f)))), index=kept)


def pivot(d: Draws, f: Any, r: Any) -> Any:
    index, across, measured = d.column(f), d.text(f), d.numeric(f)
    fit(len({index, across, measured}) == 3)
    made = f.collect().pivot(across, index=index, values=measured, aggregate_function=d.one(("sum", "max", "len")))
    return made.lazy()


def dummies(d: Draws, f: Any, r: Any) -> Any:
    return f.collect().to_dummies(d.text(f)).lazy()


def transpose(d: Draws, f: Any, r: Any) -> Any:
    return f.select(cs.numeric()).head(4).collect().transpose().lazy()


def explode(d: Draws, f: Any, r: Any) -> Any:
    text = d.text(f)
    return f.with_columns(pl.col(text).str.split("-")).explode(text)


def partition(d: Draws, f: Any, r: Any) -> Any:
    parts = f.collect().partition_by(d.text(f), maintain_order=True)
    fit(parts)
    return parts[0].lazy()


def join(d: Draws, f: Any, r: Any) -> Any:
    fit("key" in f.collect_schema())
    how = d.one(("inner", "left", "full", "right", "semi", "anti"))
    return f.join(r, on="key", how=how, coalesce=d.one((True, None)), maintain_order="left_right")


def join_named(d: Draws, f: Any, r: Any) -> Any:
    how = d.one(("inner", "left", "full", "right"))
    on = value(d, f).cast(pl.Int64)
    return f.join(r, left_on=on, right_on=d.one(("key", "weight")), how=how, suffix="_r", maintain_order="left_right")


def join_where(d: Draws, f: Any, r: Any) -> Any:
    other = r.rename({one: f"w_{one}" for one in r.collect_schema().names()})
    return f.join_where(other, value(d, f) > pl.col("w_weight")).sort(pl.all(), maintain_order=True)


def join_asof(d: Draws, f: Any, r: Any) -> Any:
    fit("when" in f.collect_schema())
    return f.sort("when", maintain_order=True).join_asof(r.sort("since"), left_on="when", right_on="since")


def cross(d: Draws, f: Any, r: Any) -> Any:
    return f.head(5).join(r.select("label", "weight"), how="cross", suffix="_c", maintain_order="left_right")


def union(d: Draws, f: Any, r: Any) -> Any:
    return pl.concat([f, r.rename({"weight": "y"})], how="diagonal_relaxed")


def beside(d: Draws, f: Any, r: Any) -> Any:
    return pl.concat([f.head(5), r.select(pl.col("label").alias("b_label"))], how="horizontal")


def merge_sorted(d: Draws, f: Any, r: Any) -> Any:
    measured = d.numeric(f)
    one = f.select(pl.col(measured).cast(pl.Float64).alias("ms")).drop_nulls().sort("ms")
    return one.merge_sorted(r.select(pl.col("weight").cast(pl.Float64).alias("ms")).sort("ms"), key="ms")


def update(d: Draws, f: Any, r: Any) -> Any:
    fit("key" in f.collect_schema() and "y" in f.collect_schema())
    return f.update(r.select("key", pl.col("weight").alias("y")), on="key", how="left", maintain_order="left_right")


def sql(d: Draws, f: Any, r: Any) -> Any:
    one, two = d.numeric(f), d.column(f)
    return f.sql(f'SELECT *, "{one}" + 1 AS sq FROM self WHERE "{two}" IS NOT NULL')


def sql_join(d: Draws, f: Any, r: Any) -> Any:
    fit("key" in f.collect_schema())
    text = "SELECT f.key, r.label, count(*) AS c FROM f JOIN r ON f.key = r.key GROUP BY f.key, r.label ORDER BY 1, 2"
    return pl.SQLContext(f=f, r=r).execute(text)


def function(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(m=value(d, f).map_batches(lambda values: values * 2, return_dtype=pl.self_dtype()))


def element_function(d: Draws, f: Any, r: Any) -> Any:
    return f.with_columns(me=value(d, f).map_elements(lambda one: one * 2.0, return_dtype=pl.Float64))


def frame_function(d: Draws, f: Any, r: Any) -> Any:
    return f.map_batches(lambda frame: frame.head(7))


def group_function(d: Draws, f: Any, r: Any) -> Any:
    measured = d.numeric(f)
    groups = f.collect().group_by(d.text(f), maintain_order=True)
    return groups.map_groups(lambda one: one.select(pl.col(measured).max().alias("gm"))).lazy()


def from_list(d: Draws, f: Any, r: Any) -> Any:
    frame = f.collect()
    return frame.with_columns(li=pl.Series(frame[d.numeric(f)].to_list())).lazy()


def eager_series(d: Draws, f: Any, r: Any) -> Any:
    frame = f.collect()
    return frame.with_columns((frame[d.numeric(f)] * 2 + frame[d.numeric(f)]).alias("es")).lazy()


def eager_in_place(d: Draws, f: Any, r: Any) -> Any:
    frame = f.collect()
    frame.insert_column(0, (frame[d.numeric(f)] * 2).alias("ip"))
    frame.replace_column(1, frame[d.numeric(f)].alias("rc"))
    frame.drop_in_place(d.column(f))
    return frame.lazy()


def eager_masked(d: Draws, f: Any, r: Any) -> Any:
    frame = f.collect()
    return frame.filter(frame[d.numeric(f)] > 2).lazy()


def stacked(d: Draws, f: Any, r: Any) -> Any:
    frame = f.collect()
    return frame.head(4).vstack(frame.tail(3)).extend(frame.head(2)).rechunk().lazy()


def through_pandas(d: Draws, f: Any, r: Any) -> Any:
    return pl.from_pandas(f.collect().to_pandas()).lazy()


def drop(d: Draws, f: Any, r: Any) -> Any:
    fit(len(types_of(f)) > 2)
    return f.drop(d.column(f))


def rename(d: Draws, f: Any, r: Any) -> Any:
    return f.rename({d.column(f): "renamed"})


def through_file(d: Draws, f: Any, r: Any) -> Any:
    place = d.folder / "middle.parquet"
    f.sink_parquet(place)
    return pl.scan_parquet(place)


STEPS: tuple[Step, ...] = tuple(
    one
    for name, one in list(globals().items())
    if callable(one) and getattr(one, "__module__", "") == __name__ and one is not value
)
