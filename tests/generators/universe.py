"""The small universe: names that collide after normalisation, names that are hard to quote, a few runs and instants."""

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
Events = st.SearchStrategy[Json]

DATASETS = (
    ("s3://lake", "raw/users"),
    ("s3a://lake/", "raw//users/"),
    ("s3n://lake", "raw/users"),
    ("s3://lake", "raw/clicks"),
    ("postgres://db:5432", "shop.public.orders"),
    ("postgres://db", "shop.public.orders"),
    ("postgres://db:None/", "shop.public.orders"),
    ("postgres://db:5433", "shop.public.orders"),
    ("hdfs", "/x//y/"),
    ("file://", "/data//a:b%25 c.csv"),
    ("hive://meta:9083", "gold.users"),
    ("file", "/data/a:b%25 c.csv"),
    ("ns:with:colons", "na\"me's"),
    ("warehouse", "gold.日次 売上"),
    ("warehouse", "GOLD.日次 売上"),
    ("bigquery", "p.d.t"),
    ("inmemory://", "tmp%3A1"),
    ("file", "/data/a%3Ab%2525%20c.csv"),
    ("file", "data/a%3Ab.csv"),
    ("file", "/data/a%3Ab.csv"),
    ("file://host", "/%C3%A4%2F%E4%20.csv"),
)
JOBS = (("airflow", "dag.task"), ("-", ""), ("spark", 'app "x" %41'), ("s3a://jobs/", "j//:"), ("größe", "日次 job"))
FIELDS = ("id", "a.b", "naïve col", "x:y%", "ID", "_0")
RUN_IDS = tuple(f"0194{n}f29-7c00-7abc-8def-00000000000{n}" for n in range(1, 6))
INSTANTS = (
    "2026-01-01T00:00:00Z",
    "2026-01-01T01:00:00+01:00",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00:00.000001Z",
    "2026-01-01T00:00:00.000001999Z",
    "2026-01-01T05:30:00.5+05:30",
    "2026-01-02T00:00:00.123Z",
    "2026-01-03T00:00:00-08:00",
    "2026-02-28T23:59:59.999999Z",
    "1970-01-01T00:00:00Z",
    "2100-12-31T23:59:59Z",
)

fields = st.sampled_from(FIELDS)
moments = st.sampled_from(INSTANTS)


def _named(pair: tuple[str, str]) -> Json:
    return {"namespace": pair[0], "name": pair[1]}


NO_NAMES: tuple[Json, ...] = ({}, {"namespace": "n", "name": ""}, {"namespace": None, "name": "x"}, {"name": "x"})
dataset_names = (st.sampled_from(DATASETS[:4]) | st.sampled_from(DATASETS)).map(_named)
job_names = (st.just(JOBS[0]) | st.sampled_from(JOBS)).map(_named)
run_ids = st.tuples(st.sampled_from(RUN_IDS), st.booleans()).map(lambda pair: pair[0].upper() if pair[1] else pair[0])
"""A run id in either case: both are one run."""

runs = st.tuples(run_ids, job_names) | st.tuples(st.sampled_from(RUN_IDS[:3]), st.just(JOBS[0]).map(_named))
"""Run id and job: half of the time one of three runs of one job, so that histories fold."""


def optional(required: Json, /, **maybe: Any) -> Events:
    """Objects with the required keys and some of the others."""
    return st.fixed_dictionaries(required, optional=maybe)


def few(strategy: st.SearchStrategy[Any], least: int = 0, most: int = 2) -> st.SearchStrategy[list[Any]]:
    """Short lists."""
    return st.lists(strategy, min_size=least, max_size=most)
