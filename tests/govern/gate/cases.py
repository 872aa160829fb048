"""A shop with prod, staging and dev, whose changes the tests of the gate judge."""

from dataclasses import replace
from typing import Any

from whence.govern.gate.impact import Affected, Assessed, Assessment, Facts, Impact, Reach, Reader
from whence.govern.gate.judgement import Approval, Head
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName, FieldName, JobName, Node

WAREHOUSE = "postgres://prod:5432"
NOW = 1_800_000_000_000_000
"""2027-01-15T08:00:00Z."""
DAY = 86_400_000_000
HEAD = Head(commit="f00d" * 10, base="beef" * 10, authors=frozenset({"ann"}))

ORDERS = DatasetName(WAREHOUSE, "shop.public.orders")
REVENUE = DatasetName(WAREHOUSE, "shop.gold.revenue")
BOARD = DatasetName("bi://prod", "Revenue board")
STAGING = DatasetName("postgres://staging:5432", "shop.public.orders_copy")
JOB = JobName("airflow", "revenue.daily")

FACTS: dict[Node, Facts] = {
    ORDERS: Facts(owners=("shop-team",)),
    REVENUE: Facts(owners=("finance",), tier=1, certified=True),
    BOARD: Facts(owners=("board-owner",), types=("DASHBOARD",)),
}


def change(kind: ChangeKind = ChangeKind.VALUES, column: str | None = "amount", **more: Any) -> ColumnChange:
    """A change of the shop's orders."""
    made = ColumnChange(dataset=ORDERS, column=column, kind=kind, file="models/orders.sql", line=3)
    return replace(made, **more)


def affected(*nodes: Node, reach: Reach = Reach.VALUE) -> tuple[Affected, ...]:
    """Nodes one after the other, each a hop further than the one before."""
    start = FieldName(ORDERS, "amount")
    return tuple(
        Affected(node=node, reach=reach, path=(start, *nodes[: place + 1])) for place, node in enumerate(nodes)
    )


def many(count: int) -> tuple[Node, ...]:
    """So many datasets that nobody owns."""
    return tuple(DatasetName(WAREHOUSE, f"shop.tmp.t{number}") for number in range(count))


def reader(target: Node = REVENUE, days_ago: int = 1) -> Reader:
    """A job that read the orders some days ago."""
    return Reader(job=JOB, target=target, last_seen=NOW - days_ago * DAY)


def assessment(*changes: tuple[ColumnChange, Impact]) -> Assessment:
    """Changes with what each affects, in the shop."""
    return Assessment(
        changes=tuple(Assessed(change=one, impact=impact) for one, impact in changes),
        facts=FACTS,
        graph_version="1:100",
    )


def approval(person: str, commit: str = HEAD.commit) -> Approval:
    """A person's approval of the head, or of another commit."""
    return Approval(person=person, commit=commit)
