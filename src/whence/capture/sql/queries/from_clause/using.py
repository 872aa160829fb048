"""USING and NATURAL: one column for the two that a join compares."""

from whence.capture.sql.provenance.flows import JOIN, NOTHING, TRANSFORMATION, Flow, absorb, merge_flows
from whence.capture.sql.provenance.relations import STAR, Output, Relation, formula_of_star
from whence.capture.sql.queries.conditions import keep_condition
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import tree

_KEEPS_POSITION = ("duckdb", "sqlite", "clickhouse")
"""Dialects in which a column of USING keeps its position in the left side; elsewhere it comes first."""


def merge_columns(
    scope: Scope, left: list[Output], right: list[Output], using: list[str], join: tree.Node, rows: Flow
) -> None:
    """Merge the columns that USING or NATURAL compares: an outer join keeps the preserved side's, a full join both."""
    side = str(tree.arg(join, tree.SIDE) or "").upper()
    merged: dict[str, Output] = {}
    for name in using:
        left_column, right_column = _side_column(left, name), _side_column(right, name)
        for output in (left_column, right_column):
            absorb(rows, output.flow, JOIN)
            keep_condition(output.flow, JOIN, f"{str(tree.arg(join, tree.METHOD) or 'USING').upper()} ({name})")
        column = _merge_column(name, left_column, right_column, side)
        if scope.meaning is not None:
            column = column.with_formula(scope.meaning.merge_column(left_column, right_column, side))
        merged[name] = scope.merged[name] = column
    scope.clear_resolved()
    rest = [output for output in right if output.name not in merged]
    if scope.reading.dialect.name in _KEEPS_POSITION:
        scope.row = [merged.pop(output.name) if output.name in merged else output for output in left] + rest
        return
    scope.row = [*merged.values(), *(output for output in left if output.name not in merged), *rest]


def _merge_column(name: str, left_column: Output, right_column: Output, side: str) -> Output:
    if side == "RIGHT":
        return right_column.with_name(name)
    if side == "FULL":
        either: Flow = {}
        absorb(either, left_column.flow, TRANSFORMATION)
        absorb(either, right_column.flow, TRANSFORMATION)
        return Output(name, either)
    return left_column.with_name(name)


def _side_column(outputs: list[Output], name: str) -> Output:
    """A column of one side of a join: by name, or derived from its stars."""
    known = [output for output in outputs if output.name == name]
    stars = [output for output in outputs if output.name == STAR]
    if known or not stars:
        return known[0] if known else Output(name, NOTHING)
    guessed = [Relation([star]).guess(name) for star in stars]
    formula = formula_of_star([star.formula for star in stars], name)
    return Output(name, merge_flows(*(column.flow for column in guessed if column is not None)), formula=formula)
