"""Which of an event's datasets a table of its SQL is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.events.datasets import EventDataset, match_dataset
from whence.capture.sql.events.enrichment import ReportedSql, dialect_named, read_event_sql
from whence.capture.sql.lineage import Table
from whence.capture.sql.syntax import masking
from whence.capture.sql.syntax.masking import mask_literals
from whence.model.names import DatasetName

NAMES = ("shop.public.orders", "shop.audit.orders", "Sales", "sales", "lake.raw.Users")
LINKED = DatasetName("s3://lake", "warehouse/gold/users")


@pytest.mark.parametrize(
    ("table", "dialect", "name"),
    [
        ("public.orders", "postgres", "shop.public.orders"),
        ("orders", "postgres", None),  # of two
        ("other.shop.audit.orders", "postgres", "shop.audit.orders"),
        ("public.order", "postgres", None),
        ("RAW.USERS", "snowflake", "lake.raw.Users"),
        ("raw.users", "bigquery", None),  # case counts
        ("raw.Users", "bigquery", "lake.raw.Users"),
        ("sales", "spark", "sales"),  # in case too
        ("SALES", "spark", None),  # the same of both
        ("gold.users", "spark", "warehouse/gold/users"),
        ("s3://lake/warehouse/gold/users", "spark", "warehouse/gold/users"),
        ("s3://lake/warehouse/gold", "spark", None),
    ],
)
def test_a_table_is_the_dataset_whose_name_ends_alike(table: str, dialect: str, name: str | None) -> None:
    known = [EventDataset(name=DatasetName("n", variable)) for variable in NAMES]
    known.append(EventDataset(name=LINKED, others=(DatasetName("glue", "hive.gold.users"),)))
    parts = (table,) if "://" in table else tuple(table.split("."))
    found = match_dataset(Table(parts), known, dialect_of(dialect))
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("words", "namespaces", "dialect"),
    [
        (["Snowflake", "SPARK"], ["postgres://db"], "snowflake"),
        (["ansi-ish", "SPARK"], ["postgres://db"], "spark"),
        (["", ""], ["s3://x", "sqlserver://db:1433"], "tsql"),
        (["", ""], ["bigquery"], "bigquery"),
        (["", ""], ["s3://x"], "generic"),
    ],
)
def test_the_dialect_is_the_first_that_is_named(words: list[str], namespaces: list[str], dialect: str) -> None:
    assert dialect_named(words, namespaces) == dialect


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("select a from t where d >= '2026-01-01T00:00:00Z'", "select a from t where d >= '<time>'"),
        ("select a from t where d = '20260101' and n = 12345678", "select a from t where d = '<time>' and n = 0"),
        ("select '01941f29-7c00-7abc-8def-000000000001' as r", "select '<uuid>' as r"),
        ("select a from events_20260101 where x = 'y2026-01-01'", None),
        ("select a from `p.d.20260101` group by 1 limit 100", None),
        ("select a from parquet.`s3://l/2026-01-01/20260101`", None),
    ],
)
def test_only_literals_that_change_from_run_to_run_are_masked(query: str, read: str | None) -> None:
    assert mask_literals(query, "spark") == (read or query)


_PIECES = ["'", '"', "2026-01-01", "20260101", "'2026-01-01T10:00:00.5Z'", "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"]
_PIECES += ["1234567", "12345678901", "١٢٣٤٥٦٧٨", " ", "a", ".", "-", "/", "=", "[", "]", "`", "'<time>'", "\n"]


@given(st.lists(st.sampled_from(_PIECES), max_size=9).map("".join), st.booleans())
def test_masking_kind_by_kind_is_masking_in_one_pass(text: str, has_double: bool) -> None:
    quote = "['\"]" if has_double else "'"
    quoted = rf"(?P<quote>{quote})(?:(?P<time>{masking._TIME})|{masking._UUID})(?P=quote)"
    placeholders = (("number", "0"), ("time", "'<time>'"), ("quote", "'<uuid>'"))
    expected = re.sub(
        rf"{quoted}|(?P<number>{masking._NUMBER})",
        lambda found: next(text for name, text in placeholders if found[name]),
        text,
    )
    assert mask_literals(text, "spark" if has_double else "postgres") == expected


def test_names_are_those_of_the_event() -> None:
    orders = EventDataset(name=DatasetName("snowflake://x", "db.public.orders"), fields=("id", "Amount", "day"))
    daily = EventDataset(name=DatasetName("snowflake://x", "db.public.daily"), fields=("day", "total"))
    query = 'select o.day, sum(o."Amount") as total from orders o group by o.day'
    found = read_event_sql(ReportedSql(query=query, dialect="snowflake", inputs=(orders,), outputs=(daily,)))
    edges = [
        (str(edge.source).rpartition(":")[2], str(edge.target).rpartition(":")[2], edge.subtype)
        for edge in found.outputs[daily.name].edges
        if edge.type == "DIRECT"
    ]
    assert edges == [("Amount", "total", "AGGREGATION"), ("day", "day", "IDENTITY")]
    assert found.is_complete


def test_several_results_or_outputs_are_not_guessed() -> None:
    a, b, c = (EventDataset(name=DatasetName("n", one)) for one in "abc")
    for query, outputs in (("select x from a", (b, c)), ("select x from a; select y from a", (b,))):
        assert not read_event_sql(ReportedSql(query=query, dialect="spark", inputs=(a,), outputs=outputs)).outputs


def test_tables_that_are_no_datasets_of_the_event_are_said() -> None:
    a, b = (EventDataset(name=DatasetName("n", one)) for one in "ab")
    query = "insert into b select a.x, z.y from a join other.z on a.k = z.k"
    found = read_event_sql(ReportedSql(query=query, dialect="spark", inputs=(a,), outputs=(b,)))
    assert found.unmatched == ("other.z",)
    assert found.status == "partial"
    assert {str(edge.source).rpartition(":")[2] for edge in found.outputs[b.name].edges} == {"x", "k"}
