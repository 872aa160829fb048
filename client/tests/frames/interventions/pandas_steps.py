"""Steps of random pipelines of pandas: rows, values, groups, shapes, joins, functions and changes in place."""

from typing import Any

import numpy as np
import pandas as pd
from client.tests.frames.interventions.draws import Draws, Step, fit

AGGREGATES = ("sum", "max", "count", "nunique", "first", "median")


def assign(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(**{d.one("pqr"): f[d.numeric(f)] * 2 + f[d.numeric(f)]})


def assign_chain(d: Draws, f: Any, r: Any) -> Any:
    one, two = d.numeric(f), d.numeric(f)
    return f.assign(c1=lambda t: t[one] + 1, c2=lambda t: t["c1"] * t[two])


def mask(d: Draws, f: Any, r: Any) -> Any:
    return f[(f[d.numeric(f)] > d.number(0, 3)) | (f[d.numeric(f)] < 1)]


def query(d: Draws, f: Any, r: Any) -> Any:
    return f.query(f"`{d.numeric(f)}` > {d.number(0, 3)} and `{d.numeric(f)}` == `{d.numeric(f)}`")


def loc(d: Draws, f: Any, r: Any) -> Any:
    names = sorted({d.column(f), d.column(f)})
    return f.loc[f[d.numeric(f)] > d.number(0, 3), names]


def isin(d: Draws, f: Any, r: Any) -> Any:
    return f[f[d.numeric(f)].isin(r["weight"])]


def between(d: Draws, f: Any, r: Any) -> Any:
    return f[f[d.numeric(f)].between(1, 4) & f[d.column(f)].notna()]


def largest(d: Draws, f: Any, r: Any) -> Any:
    return f.nlargest(d.number(3, 12), d.numeric(f))


def order(d: Draws, f: Any, r: Any) -> Any:
    by = list(dict.fromkeys((d.column(f), d.column(f))))
    return f.sort_values(by, kind="stable", ascending=d.one((True, False))).head(d.number(3, 12))


def distinct(d: Draws, f: Any, r: Any) -> Any:
    return f.drop_duplicates(d.column(f), keep=d.one(("first", "last")))


def not_duplicated(d: Draws, f: Any, r: Any) -> Any:
    return f[~f.duplicated(subset=[d.column(f)])]


def drop_missing(d: Draws, f: Any, r: Any) -> Any:
    return f.dropna(subset=[d.column(f)]) if d.one((True, False)) else f.dropna()


def sample(d: Draws, f: Any, r: Any) -> Any:
    return f.sample(frac=0.5, random_state=d.number(0, 9))


def positions(d: Draws, f: Any, r: Any) -> Any:
    return f.iloc[d.number(0, 3) : d.number(6, 20), : max(2, len(f.columns) - 1)]


def where(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(w=f[d.numeric(f)].where(f[d.numeric(f)] > 2, f[d.numeric(f)]))


def np_where(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(nw=np.where(f[d.numeric(f)] > 2, f[d.numeric(f)], 0))


def np_select(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(ns=np.select([f[d.numeric(f)] > 3, f[d.numeric(f)] > 1], [f[d.numeric(f)], 7], default=-1))


def ufunc(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(uf=np.maximum(np.sqrt(f[d.numeric(f)].abs()), f[d.numeric(f)]))


def scaled(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(z=f[d.numeric(f)] - f[d.numeric(f)].mean())


def above_mean(d: Draws, f: Any, r: Any) -> Any:
    return f[f[d.numeric(f)] > f[d.numeric(f)].mean()]


def fill(d: Draws, f: Any, r: Any) -> Any:
    return f.fillna({d.numeric(f): 0}) if d.one((True, False)) else f.ffill()


def fill_from(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(ff=f[d.numeric(f)].fillna(f[d.numeric(f)]).combine_first(f[d.numeric(f)]))


def cut(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(bin=pd.cut(f[d.numeric(f)], [-100, 1, 4, 1000]).astype(str))


def evaluate(d: Draws, f: Any, r: Any) -> Any:
    return f.eval(f"ev = `{d.numeric(f)}` * 2 + `{d.numeric(f)}`")


def shift(d: Draws, f: Any, r: Any) -> Any:
    one = f[d.numeric(f)]
    return f.assign(s=one.shift(1) - f[d.numeric(f)].diff(), rk=one.rank(method="dense"), cm=one.cumsum())


def rolling(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(roll=f[d.numeric(f)].rolling(2, min_periods=1).sum(), ew=f[d.numeric(f)].ewm(span=3).mean())


def rolling_time(d: Draws, f: Any, r: Any) -> Any:
    day, value = d.day(f), d.numeric(f)
    ordered = f.sort_values(day, kind="stable")
    return ordered.assign(rt=ordered.rolling("20D", on=day)[value].sum())


def strings(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(up=f[d.text(f)].str.upper() + "_" + f[d.text(f)].str.slice(0, 2))


def split(d: Draws, f: Any, r: Any) -> Any:
    parts = f[d.text(f)].str.split("-", expand=True)
    return f.assign(head=parts[0])


def extract(d: Draws, f: Any, r: Any) -> Any:
    parts = f[d.text(f)].str.extract(r"(?P<letter>\w)\W?(?P<rest>.*)")
    return pd.concat([f, parts], axis=1)


def contains(d: Draws, f: Any, r: Any) -> Any:
    return f[f[d.text(f)].str.contains(d.one(("a", "one", "q")), na=False)]


def cat(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(cat=f[d.text(f)].str.cat(f[d.text(f)], sep="/", na_rep=""))


def dates(d: Draws, f: Any, r: Any) -> Any:
    day = f[d.day(f)]
    return f.assign(month=day.dt.month, start=day.dt.floor("D"), age=(day - day.min()).dt.days)


def resample(d: Draws, f: Any, r: Any) -> Any:
    return f.resample("30D", on=d.day(f))[d.numeric(f)].sum().reset_index()


def by_month(d: Draws, f: Any, r: Any) -> Any:
    day, value = d.day(f), d.numeric(f)
    return f.groupby(pd.Grouper(key=day, freq="30D"))[value].agg(["sum", "max"]).reset_index()


def group(d: Draws, f: Any, r: Any) -> Any:
    key, value = d.column(f), d.numeric(f)
    fit(key != value)
    return f.groupby(key, as_index=False).agg(v=(value, d.one(AGGREGATES)), n=(d.column(f), "count"))


def group_dict(d: Draws, f: Any, r: Any) -> Any:
    key, value, other = d.column(f), d.numeric(f), d.numeric(f)
    fit(len({key, value, other}) == 3)
    return f.groupby(key).agg({value: d.one(AGGREGATES), other: "min"}).reset_index()


def group_lists(d: Draws, f: Any, r: Any) -> Any:
    key, value = d.column(f), d.numeric(f)
    fit(key != value)
    made = f.groupby(key)[[value]].agg(["min", "max"])
    made.columns = ["_".join(one) for one in made.columns]
    return made.reset_index()


def group_expression(d: Draws, f: Any, r: Any) -> Any:
    return f.groupby(f[d.numeric(f)] > 2)[d.numeric(f)].mean().reset_index(name="m")


def group_size(d: Draws, f: Any, r: Any) -> Any:
    return f.groupby([d.text(f)]).size().reset_index(name="size")


def window(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(t=f.groupby(d.column(f))[d.numeric(f)].transform(d.one(AGGREGATES)))


def group_order(d: Draws, f: Any, r: Any) -> Any:
    groups = f.groupby(d.column(f))
    return f.assign(gc=groups.cumcount(), gr=groups[d.numeric(f)].rank(), gs=groups[d.numeric(f)].shift())


def group_head(d: Draws, f: Any, r: Any) -> Any:
    return f.groupby(d.column(f)).head(d.number(1, 3))


def group_filter(d: Draws, f: Any, r: Any) -> Any:
    value = d.numeric(f)
    return f.groupby(d.text(f)).filter(lambda part: part[value].sum() > 8)


def group_apply(d: Draws, f: Any, r: Any) -> Any:
    key, value = d.text(f), d.numeric(f)
    return f.groupby(key)[[value]].apply(lambda part: part.max() - part.min()).reset_index()


def group_rolling(d: Draws, f: Any, r: Any) -> Any:
    key, value = d.text(f), d.numeric(f)
    return f.groupby(key)[value].rolling(2, min_periods=1).mean().reset_index(drop=d.one((True, False)))


def counts(d: Draws, f: Any, r: Any) -> Any:
    return f[d.text(f)].value_counts().reset_index()


def crosstab(d: Draws, f: Any, r: Any) -> Any:
    made = pd.crosstab(f[d.text(f)], f[d.column(f)])
    made.columns = [str(one) for one in made.columns]
    return made.reset_index()


def pivot(d: Draws, f: Any, r: Any) -> Any:
    index, across, value = d.column(f), d.text(f), d.numeric(f)
    fit(len({index, across, value}) == 3)
    made = f.pivot_table(value, index, across, aggfunc=d.one(("sum", "max", "count")))
    return made.reset_index()


def melt(d: Draws, f: Any, r: Any) -> Any:
    kept = d.column(f)
    return f.melt(id_vars=[kept], value_vars=[one for one in {d.numeric(f), d.numeric(f)} if one != kept])


def stack(d: Draws, f: Any, r: Any) -> Any:
    names = list(dict.fromkeys((d.numeric(f), d.numeric(f))))
    return f[names].stack().reset_index()


def unstack(d: Draws, f: Any, r: Any) -> Any:
    one, two, value = d.text(f), d.column(f), d.numeric(f)
    fit(len({one, two, value}) == 3)
    made = f.groupby([one, two])[value].sum().unstack()
    made.columns = [str(label) for label in made.columns]
    return made.reset_index()


def dummies(d: Draws, f: Any, r: Any) -> Any:
    return pd.get_dummies(f, columns=[d.text(f)])


def explode(d: Draws, f: Any, r: Any) -> Any:
    text = d.text(f)
    return f.assign(**{text: f[text].str.split("-")}).explode(text)


def transpose(d: Draws, f: Any, r: Any) -> Any:
    made = f[[d.numeric(f)]].head(5).T
    made.columns = [f"row{one}" for one in range(len(made.columns))]
    return made


def index_twice(d: Draws, f: Any, r: Any) -> Any:
    return f.set_index(list(dict.fromkeys((d.column(f), d.column(f))))).sort_index(kind="stable").reset_index()


def by_array(d: Draws, f: Any, r: Any) -> Any:
    return f[f[d.numeric(f)].to_numpy() > d.number(0, 3)]


def without_rows(d: Draws, f: Any, r: Any) -> Any:
    return f.drop(f[f[d.numeric(f)] > 4].index)


def query_variable(d: Draws, f: Any, r: Any) -> Any:
    return f.query(f"`{d.numeric(f)}` in @r.weight")


def function(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(m=f[d.numeric(f)].map(lambda value: value * 2), a=f[d.numeric(f)].apply(lambda value: value + 1))


def row_function(d: Draws, f: Any, r: Any) -> Any:
    one, two = d.numeric(f), d.numeric(f)
    return f.assign(ra=f.apply(lambda row: row[one] + row[two], axis=1))


def pipe(d: Draws, f: Any, r: Any) -> Any:
    value = d.numeric(f)
    return f.pipe(lambda t: t.assign(pp=t[value] ** 2)).pipe(lambda t: t[t["pp"] > 1])


def from_list(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(li=list(f[d.numeric(f)]))


def from_rows(d: Draws, f: Any, r: Any) -> Any:
    value = d.numeric(f)
    return pd.DataFrame([{"it": row[value], "at": number} for number, row in f.iterrows()])


def from_records(d: Draws, f: Any, r: Any) -> Any:
    return pd.DataFrame(f.to_dict("records"))


def from_array(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(ar=f[d.numeric(f)].to_numpy() * 2, fl=f[d.numeric(f)].values[::-1])


def row_reduction(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(rs=f[[d.numeric(f), d.numeric(f)]].sum(axis=1), idx=f.select_dtypes("number").idxmax(axis=1))


def setting(d: Draws, f: Any, r: Any) -> Any:
    column = d.numeric(f)
    f = f.astype({column: "float64"})
    f.loc[f[d.numeric(f)] > 3, column] = f[d.numeric(f)]
    return f


def setting_in_place(d: Draws, f: Any, r: Any) -> Any:
    f = f.copy()
    column = d.numeric(f)
    f[column] += f[d.numeric(f)]
    f["sq"] = f[column] ** 2
    f.insert(0, "first", f.pop(d.column(f)))
    return f


def changes_in_place(d: Draws, f: Any, r: Any) -> Any:
    f = f.copy()
    f.sort_values(d.column(f), kind="stable", inplace=True)
    f.drop_duplicates(d.column(f), inplace=True)
    f.rename(columns={d.column(f): "renamed"}, inplace=True)
    f.reset_index(drop=True, inplace=True)
    return f


def labelled(d: Draws, f: Any, r: Any) -> Any:
    f = f.copy()
    f.columns = [f"{one}_" if number == d.number(0, 3) else one for number, one in enumerate(f.columns)]
    return f


def drop(d: Draws, f: Any, r: Any) -> Any:
    fit(len(f.columns) > 2)
    return f.drop(columns=[d.column(f)])


def through_file(d: Draws, f: Any, r: Any) -> Any:
    place = d.folder / "middle.csv"
    f.to_csv(place, index=False)
    return pd.read_csv(place)


STEPS: tuple[Step, ...] = tuple(
    one for name, one in list(globals().items()) if callable(one) and getattr(one, "__module__", "") == __name__
)
