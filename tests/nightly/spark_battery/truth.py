"""What a statement and its column lineage are, and the inputs of all statements.

The truth was written by hand from the statements alone, by somebody who had not seen the capture.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

STATEMENTS: list[Statement] = []


@dataclass(frozen=True)
class Statement:
    name: str
    run: Callable[..., None]
    out: str  # the output: a path's name, or a table's name for `table=True`
    table: bool
    direct: dict[str, set[str]]
    influences: set[str]
    either: set[str]
    opaque: dict[str, set[str]]
    announced: dict[str, set[str]]
    none: set[str]
    needs: frozenset[str]
    fails: bool
    reads: set[str] = field(default_factory=set)


def statement(
    out: str,
    direct: dict[str, str],
    influences: str = "",
    *,
    either: str = "",
    opaque: dict[str, str] | None = None,
    announced: dict[str, str] | None = None,
    none: str = "",
    needs: str = "",
    fails: bool = False,
    table: bool = False,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Sources and columns are separated by blanks, so columns with blanks are written with `~` for the blank."""

    def words(text: str) -> set[str]:
        return {one.replace("~", " ") for one in text.split()}

    def sources(of: dict[str, str] | None) -> dict[str, set[str]]:
        return {column.replace("~", " "): words(text) for column, text in (of or {}).items()}

    def keep(function: Callable[..., None]) -> Callable[..., None]:
        STATEMENTS.append(
            Statement(
                function.__name__,
                function,
                out,
                table,
                sources(direct),
                words(influences),
                words(either),
                sources(opaque),
                sources(announced),
                words(none),
                frozenset(needs.split()),
                fails,
            )
        )
        return function

    return keep


class IO:
    """Where inputs and outputs are. `root` is a directory."""

    INPUTS: ClassVar[dict[str, str]] = {
        "orders": "prod/orders",
        "customers": "prod/customers",
        "rates": "staging/rates",
        "weird": "dev/we ird%name-ü",
        "clicks": "prod/clicks",
    }

    def __init__(self, spark: Any, root: str) -> None:
        self.spark, self.root = spark, root

    def input_path(self, name: str) -> str:
        return f"{self.root}/{self.INPUTS[name]}"

    def frame(self, name: str) -> Any:
        return self.spark.read.parquet(self.input_path(name))

    def path(self, name: str) -> str:
        return f"{self.root}/out/{name}"

    def table(self, name: str) -> str:
        return f"shop.{name}"


def make_inputs(spark: Any, io: IO) -> None:
    """Write the inputs, create the database, register the views. Run it before the capture is on."""
    day = datetime.date
    orders = [
        (1, 10, 5.0, day(2026, 11, 1), "paid", ["a", "b"], ("Rome", "001"), {"k": 1}),
        (2, 11, 7.5, day(2026, 11, 2), "open", ["b"], ("Oslo", "002"), {"k": 2}),
        (3, 10, 2.5, day(2026, 11, 2), "paid", [], ("Rome", "003"), {"j": 3}),
        (4, 12, 9.0, day(2026, 11, 3), "void", ["c"], ("Bern", "004"), {}),
    ]
    spark.createDataFrame(
        orders,
        "order_id long, customer_id long, amount double, day date, status string, tags array<string>,"
        " addr struct<city:string,zip:string>, props map<string,int>",
    ).write.mode("overwrite").parquet(io.input_path("orders"))
    customers = [
        (10, "Ann", "IT", "gold"),
        (11, "Bob", "NO", "base"),
        (12, "Cleo", "CH", "base"),
        (13, "Dan", "IT", None),
    ]
    spark.createDataFrame(customers, "id long, name string, country string, segment string").write.mode(
        "overwrite"
    ).parquet(io.input_path("customers"))
    rates = [("IT", 1.0, day(2026, 1, 1)), ("NO", 0.09, day(2026, 1, 1)), ("CH", 1.05, day(2026, 1, 1))]
    spark.createDataFrame(rates, "country string, rate double, valid_from date").write.mode("overwrite").parquet(
        io.input_path("rates")
    )
    weird = [(1, "x", "y"), (2, "z", "w")]
    spark.createDataFrame(weird, "`Id` long, `weird col` string, `a.b` string").write.mode("overwrite").parquet(
        io.input_path("weird")
    )
    clicks = [
        (1, '{"u": 10, "page": "home"}', datetime.datetime(2026, 11, 1, 10)),
        (2, '{"u": 11, "page": "cart"}', datetime.datetime(2026, 11, 1, 11)),
    ]
    spark.createDataFrame(clicks, "id long, payload string, ts timestamp").write.mode("overwrite").parquet(
        io.input_path("clicks")
    )
    spark.sql("create database if not exists shop")
    for name in ("orders", "customers", "rates", "clicks"):
        io.frame(name).createOrReplaceTempView(name)
