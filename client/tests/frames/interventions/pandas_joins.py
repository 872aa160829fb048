"""Steps of random pipelines of pandas that bring frames together: joins, lookups, labels of rows."""

from typing import Any

import pandas as pd
from client.tests.frames.interventions.draws import Draws, Step, fit


def merge(d: Draws, f: Any, r: Any) -> Any:
    fit("key" in f.columns)
    return f.merge(r, on="key", how=d.one(("inner", "left", "outer", "right")), indicator=d.one((True, False)))


def merge_named(d: Draws, f: Any, r: Any) -> Any:
    return pd.merge(f, r, left_on=d.numeric(f), right_on=d.one(("key", "weight")), suffixes=("", "_r"))


def merge_index(d: Draws, f: Any, r: Any) -> Any:
    return f.merge(r.set_index("key"), left_on=d.numeric(f), right_index=True, how="left", suffixes=("", "_i"))


def join(d: Draws, f: Any, r: Any) -> Any:
    return f.join(r.set_index("key")[["label"]], on=d.numeric(f), rsuffix="_j")


def cross(d: Draws, f: Any, r: Any) -> Any:
    return f.head(6).merge(r[["label", "weight"]], how="cross", suffixes=("", "_c"))


def merge_asof(d: Draws, f: Any, r: Any) -> Any:
    left, right = f.sort_values("when", kind="stable"), r.sort_values("since", kind="stable")
    return pd.merge_asof(left, right[["since", "weight"]], left_on="when", right_on="since", suffixes=("", "_a"))


def lookup(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(k=f[d.numeric(f)].map(r.set_index("key")["weight"]))


def lookup_dict(d: Draws, f: Any, r: Any) -> Any:
    return f.assign(kd=f[d.numeric(f)].map(dict(zip(r["key"], r["weight"], strict=True))))


def union(d: Draws, f: Any, r: Any) -> Any:
    return pd.concat([f, r.rename(columns={"weight": "y"})], ignore_index=True)


def beside(d: Draws, f: Any, r: Any) -> Any:
    return pd.concat([f.reset_index(drop=True), r[["label"]].add_prefix("b_")], axis=1)


def added(d: Draws, f: Any, r: Any) -> Any:
    key, value = d.numeric(f), d.numeric(f)
    one = f.drop_duplicates(key).set_index(key)[value]
    return (one + r.set_index("key")["weight"]).to_frame("ad").reset_index()


def assign_labelled(d: Draws, f: Any, r: Any) -> Any:
    return f.set_index(d.numeric(f)).assign(al=r.set_index("key")["weight"], am=lambda t: t["al"] + 1).reset_index()


def beside_labelled(d: Draws, f: Any, r: Any) -> Any:
    key = d.numeric(f)
    return pd.concat([f.drop_duplicates(key).set_index(key), r.set_index("key")[["label"]]], axis=1).reset_index()


def from_series(d: Draws, f: Any, r: Any) -> Any:
    key, value = d.numeric(f), d.numeric(f)
    series = {"fs": f.drop_duplicates(key).set_index(key)[value], "fw": r.set_index("key")["weight"]}
    return pd.DataFrame(series).reset_index()


def reindexed(d: Draws, f: Any, r: Any) -> Any:
    key = d.numeric(f)
    return f.drop_duplicates(key).set_index(key).reindex(r["weight"].drop_duplicates()).reset_index()


def update(d: Draws, f: Any, r: Any) -> Any:
    f = f.reset_index(drop=True)
    f.update(r[["weight"]].rename(columns={"weight": d.numeric(f)}))
    return f


STEPS: tuple[Step, ...] = tuple(
    one for name, one in list(globals().items()) if callable(one) and getattr(one, "__module__", "") == __name__
)
