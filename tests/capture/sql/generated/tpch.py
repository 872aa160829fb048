"""TPC-H (specification 3.0.1): its tables, a few values of each column that its queries ask for, and the queries."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from random import Random

from capture.sql.oracles.perturbation import INTEGER, Estate, Kind

TABLES = {
    "part": ("p_partkey", "p_name", "p_mfgr", "p_brand", "p_type", "p_size", "p_container", "p_retailprice"),
    "supplier": ("s_suppkey", "s_name", "s_address", "s_nationkey", "s_phone", "s_acctbal", "s_comment"),
    "partsupp": ("ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost"),
    "customer": (
        *("c_custkey", "c_name", "c_address", "c_nationkey"),
        *("c_phone", "c_acctbal", "c_mktsegment", "c_comment"),
    ),
    "orders": (
        *("o_orderkey", "o_custkey", "o_orderstatus", "o_totalprice", "o_orderdate"),
        *("o_orderpriority", "o_shippriority", "o_comment"),
    ),
    "lineitem": (
        *("l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_discount", "l_tax"),
        *(
            "l_returnflag",
            "l_linestatus",
            "l_shipdate",
            "l_commitdate",
            "l_receiptdate",
            "l_shipinstruct",
            "l_shipmode",
        ),
    ),
    "nation": ("n_nationkey", "n_name", "n_regionkey"),
    "region": ("r_regionkey", "r_name"),
}
_KEYS = ("partkey", "suppkey", "nationkey", "regionkey", "custkey", "orderkey")
_DATES = tuple(date(year, month, 11) for year in (1993, 1994, 1995) for month in (3, 8))
_TEXTS = {
    "p_name": ("forest green", "green lace", "forest mint"),
    "p_brand": ("Brand#12", "Brand#23", "Brand#45"),
    "p_type": ("ECONOMY ANODIZED STEEL", "PROMO PLATED BRASS", "MEDIUM POLISHED BRASS"),
    "p_container": ("SM CASE", "MED BOX"),
    "s_comment": ("fine", "Customer Complaints"),
    "c_phone": ("13-1", "31-2", "23-3", "31-4"),
    "c_mktsegment": ("BUILDING", "AUTOMOBILE"),
    "o_orderstatus": ("F", "O"),
    "o_orderpriority": ("1-URGENT", "2-HIGH", "3-MEDIUM"),
    "o_comment": ("soon", "special requests"),
    "l_returnflag": ("R", "A"),
    "l_linestatus": ("F", "O"),
    "l_shipinstruct": ("DELIVER IN PERSON", "NONE"),
    "l_shipmode": ("AIR", "MAIL", "SHIP"),
    "n_name": ("GERMANY", "FRANCE", "BRAZIL"),
    "r_name": ("EUROPE", "ASIA", "AMERICA"),
}


def kind_of(column: str) -> Kind:
    """The type of a column, and values of it."""
    if column in _TEXTS:
        return Kind("VARCHAR", _TEXTS[column])
    if column.endswith(("_name", "_mfgr", "_address", "_phone", "_comment")):
        return Kind("VARCHAR", ("x", "y", "z"))
    if column.endswith("date"):
        return Kind("DATE", _DATES)
    if column.endswith(_KEYS):
        return Kind("INTEGER", (1, 2))
    return Kind("INTEGER", (1, 15, 23)) if column == "p_size" else INTEGER


KINDS = {column: kind_of(column) for columns in TABLES.values() for column in columns}


def types() -> dict[str, dict[str, str]]:
    """The types of the columns, by table."""
    return {table: {column: KINDS[column].sql for column in columns} for table, columns in TABLES.items()}


def queries() -> list[str]:
    """The 22, in order."""
    text = (Path(__file__).parent / "tpch.sql").read_text("utf-8").partition("\n")[2]
    return [query.strip() for query in text.split(";") if query.strip()]


def estate_of(seed: int, versions: Sequence[str]) -> Estate:
    """The tables that versions of a query name, filled at random; no key is unique. What the versions compare with
    numbers and dates is on both sides of these values.
    """
    text, random = "\n".join(versions), Random(f"tpch:{seed}")
    days = {date.fromisoformat(day) for day in re.findall(r"\d{4}-\d{2}-\d{2}", text)}
    dates = (*_DATES, *sorted({day + timedelta(days=shift) for day in days for shift in (-1, 0, 1)}))
    numbers = sorted({int(number) for number in re.findall(r"(?<![-.\w#'])\d{1,2}(?![-.\w'])", text)})
    kinds = {}
    for column, kind in KINDS.items():
        if kind.sql == "DATE":
            kind = kind._replace(values=tuple(random.sample(dates, min(len(dates), random.choice((3, 6, 9))))))
        elif kind is INTEGER:
            kind = kind._replace(values=(*kind.values, *random.sample(numbers, min(len(numbers), 2))))
        elif kind.sql == "VARCHAR":
            values = (*kind.values, "LARGE PROMO") if column == "p_type" else kind.values
            kind = kind._replace(values=tuple(random.sample(values, random.randint(1, len(values)))))
        kinds[column] = kind
    named = {table: columns for table, columns in TABLES.items() if re.search(rf"\b{table}\b", text)}
    rows = {table: random.choice((3, 6, 20) if table == "lineitem" else (2, 3, 5)) for table in named}
    return Estate.of(named, kinds, seed, plan=True, rows=rows)
