"""Expressions of declared lineage: the columns that they refer to, and how."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence_client.runs.expressions import read_expression

CASES = {
    "amount": "amount=IDENTITY",
    "orders.amount": "orders.amount=IDENTITY",
    '"Order Id"': "Order Id=IDENTITY",
    "silver.orders.amount * 1.19": "silver.orders.amount=TRANSFORMATION",
    "SUM(amount)": "amount=AGGREGATION",
    "sum(price * qty) / count(distinct id)": "price=AGGREGATION qty=AGGREGATION id=AGGREGATION/masked",
    "coalesce(a, b, 'none')": "a=TRANSFORMATION b=TRANSFORMATION",
    "coalesce(sum(a), 0) + b": "a=AGGREGATION b=TRANSFORMATION",
    "case when a > 1 and b then c else d end + e": (
        "a=CONDITIONAL b=CONDITIONAL c=TRANSFORMATION d=TRANSFORMATION e=TRANSFORMATION"
    ),
    "case x when 1 then y end": "x=CONDITIONAL y=TRANSFORMATION",
    "case when a then case when b then c else d end else e end": (
        "a=CONDITIONAL b=CONDITIONAL c=TRANSFORMATION d=TRANSFORMATION e=TRANSFORMATION"
    ),
    "if(a > 1, b, c)": "a=CONDITIONAL b=TRANSFORMATION c=TRANSFORMATION",
    "row_number() over (partition by a order by b desc)": "a=WINDOW b=WINDOW",
    "sum(x) over (partition by a) + y": "x=AGGREGATION a=WINDOW y=TRANSFORMATION",
    "sum(x) filter (where y > 1)": "x=AGGREGATION y=FILTER",
    "SUM(amount) GROUP BY date, region": "amount=AGGREGATION date=GROUP_BY region=GROUP_BY",
    "a where b = 1 order by c": "a=TRANSFORMATION b=FILTER c=SORT",
    "cast(a as decimal(10, 2))": "a=TRANSFORMATION",
    "cast(a as timestamp) - date '2026-01-01'": "a=TRANSFORMATION",
    "date_trunc('day', ts)": "ts=TRANSFORMATION",
    "md5(lower(email))": "email=TRANSFORMATION/masked",
    "a || ' it''s b ' || c": "a=TRANSFORMATION c=TRANSFORMATION",
    "first(a)": "a=AGGREGATION",
    "x is not null": "x=TRANSFORMATION",
    "current_date": "current_date=IDENTITY",
    "1 + 2": "",
    "'text'": "",
    "": "",
    "count(*)": "",
    "größe * 2": "größe=TRANSFORMATION",
}


@pytest.mark.parametrize("text", CASES)
def test_expressions(text: str) -> None:
    found = [
        f"{f'{one.qualifier}.' * bool(one.qualifier)}{one.name}={one.subtype}{'/masked' * one.masking}"
        for one in read_expression(text)
    ]
    assert " ".join(found) == CASES[text]


WORDS = st.sampled_from(["a", "b.c", "(", ")", ",", "case", "when", "then", "else", "end", "over", "as", "sum(", "'x"])


@given(st.text(max_size=60) | st.lists(WORDS).map(" ".join))
def test_no_text_breaks_it(text: str) -> None:
    read_expression(text)
