"""What a run of the head's code changes of an output, by what its capture reports."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from govern.gate.cases import ORDERS, REVENUE
from whence.govern.gate.code.run_lineage import OutputLineage, changes_of_run
from whence.model.changes import ChangeKind
from whence.model.lineage import Edge
from whence.model.names import FieldName

TYPES = {"day": "date", "total": "double", "count": "long"}


def edge(column: str | None, source: str, subtype: str = "IDENTITY", formula: str = "") -> Edge:
    """From a column of the orders into a column of the revenue, or as an influence on all of it."""
    target = REVENUE if column is None else FieldName(REVENUE, column)
    type_ = "INDIRECT" if column is None else "DIRECT"
    return Edge(source=FieldName(ORDERS, source), target=target, type=type_, subtype=subtype, description=formula)


FORMULAS = (
    edge("day", "day"),
    edge("total", "amount", "AGGREGATION", "sum(amount * rate)"),
    edge("total", "rate", "AGGREGATION", "sum(amount * rate)"),
    edge("count", "id", "AGGREGATION", "count(id)"),
    edge(None, "status", "FILTER", "status = 'paid'"),
    edge(None, "day", "GROUP_BY", "day"),
)
BARE = tuple(replace(one, description="") for one in FORMULAS)


def lineage(edges: tuple[Edge, ...], types: Mapping[str, str] = TYPES) -> OutputLineage:
    return OutputLineage(columns=types, edges=edges)


def found(before: OutputLineage, after: OutputLineage) -> set[tuple[str | None, ChangeKind]]:
    changes = changes_of_run(REVENUE, before, after, "jobs/revenue.py")
    assert {(one.dataset, one.file) for one in changes} <= {(REVENUE, "jobs/revenue.py")}
    assert len(changes) == len({(one.column, one.kind) for one in changes})
    return {(one.column, one.kind) for one in changes}


def changed(edges: tuple[Edge, ...], column: str | None, *now: Edge) -> tuple[Edge, ...]:
    """The edges, but for those into a column."""
    return (*(one for one in edges if getattr(one.target, "field", None) != column), *now)


def test_with_formulas_the_same_run_changes_nothing() -> None:
    assert found(lineage(FORMULAS), lineage(tuple(reversed(FORMULAS)))) == set()


@pytest.mark.parametrize(
    ("after", "changes"),
    [
        pytest.param(
            lineage(changed(FORMULAS, "total", edge("total", "amount", "AGGREGATION", "sum(amount)"))),
            {("total", ChangeKind.VALUES)},
            id="a source less",
        ),
        pytest.param(
            lineage(changed(FORMULAS, "count", edge("count", "id", "AGGREGATION", "count(distinct id)"))),
            {("count", ChangeKind.VALUES)},
            id="another formula",
        ),
        pytest.param(
            lineage(changed(FORMULAS, None, edge(None, "day", "GROUP_BY", "day"))),
            {(None, ChangeKind.ROWS)},
            id="no filter",
        ),
        pytest.param(
            lineage(
                changed(
                    FORMULAS, None, edge(None, "day", "GROUP_BY", "day"), edge(None, "status", "FILTER", "status <> ''")
                )
            ),
            {(None, ChangeKind.ROWS)},
            id="another filter",
        ),
        pytest.param(lineage(FORMULAS, {**TYPES, "total": "string"}), {("total", ChangeKind.TYPE)}, id="another type"),
        pytest.param(lineage(FORMULAS, {**TYPES, "total": ""}), set(), id="an unknown type"),
        pytest.param(
            lineage(changed(FORMULAS, "day"), {"total": "double", "count": "long"}),
            {("day", ChangeKind.REMOVED)},
            id="a column less",
        ),
        pytest.param(
            lineage((*FORMULAS, edge("week", "day", "TRANSFORMATION", "week(day)")), {**TYPES, "week": "int"}),
            {("week", ChangeKind.ADDED)},
            id="a column more",
        ),
        pytest.param(
            lineage(changed(FORMULAS, "day", edge("date", "day")), {"date": "date", "total": "", "count": ""}),
            {("date", ChangeKind.RENAMED)},
            id="another name",
        ),
        pytest.param(
            lineage(changed(FORMULAS, "count"), TYPES), {("count", ChangeKind.VALUES)}, id="a literal in its place"
        ),
    ],
)
def test_with_formulas_every_change_has_its_class(
    after: OutputLineage, changes: set[tuple[str | None, ChangeKind]]
) -> None:
    assert found(lineage(FORMULAS), after) == changes


def test_without_formulas_values_and_rows_are_unknown_and_the_rest_is_exact() -> None:
    (change,) = changes_of_run(REVENUE, lineage(BARE), lineage(BARE), "jobs/revenue.py")
    assert (change.column, change.kind) == (None, ChangeKind.UNKNOWN)
    assert change.reason.endswith("the rows may change; nor of count, total")
    after = lineage(changed(BARE, "total"), {"day": "timestamp", "count": "long"})
    assert found(lineage(BARE), after) == {
        ("total", ChangeKind.REMOVED),
        ("day", ChangeKind.TYPE),
        (None, ChangeKind.UNKNOWN),
    }


def test_two_columns_of_one_formula_are_not_told_apart_as_renamed() -> None:
    before = lineage((edge("a", "day"), edge("b", "day"), FORMULAS[-1]), {"a": "", "b": ""})
    after = lineage((edge("c", "day"), FORMULAS[-1]), {"c": ""})
    kinds = {("a", ChangeKind.REMOVED), ("b", ChangeKind.REMOVED), ("c", ChangeKind.ADDED)}
    assert found(before, after) == kinds
