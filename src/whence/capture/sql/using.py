"""USING and NATURAL: one column for the two that a join compares."""

from whence.capture.sql import tree
from whence.capture.sql.conditions import remember
from whence.capture.sql.flows import JOIN, NOTHING, TRANSFORMATION, Flow, absorb, joined
from whence.capture.sql.relations import STAR, Output, Relation
from whence.capture.sql.scopes import Scope

_PLACES_KEPT = ("duckdb", "sqlite", "clickhouse")
"""Dialects in which a column of USING stays where the left side has it; elsewhere it comes first."""


def merge_columns(
    scope: Scope, left: list[Output], right: list[Output], using: list[str], join: tree.Node, rows: Flow
) -> None:
    """One column for the two that USING or NATURAL compares: the outer side's, of a full join either."""
    side = str(tree.arg(join, tree.SIDE) or "").upper()
    merged: dict[str, Output] = {}
    for name in using:
        mine, its = _side(left, name), _side(right, name)
        for one in (mine, its):
            absorb(rows, one.flow, JOIN)
            remember(one.flow, JOIN, f"{str(tree.arg(join, tree.METHOD) or 'USING').upper()} ({name})")
        merged[name] = scope.merged[name] = _merged(name, mine, its, side)
    scope.forget()
    rest = [one for one in right if one.name not in merged]
    if scope.reading.dialect.name in _PLACES_KEPT:
        scope.row = [merged.pop(one.name) if one.name in merged else one for one in left] + rest
        return
    scope.row = [*merged.values(), *(one for one in left if one.name not in merged), *rest]


def _merged(name: str, mine: Output, its: Output, side: str) -> Output:
    if side == "RIGHT":
        return its.called(name)
    if side == "FULL":
        either: Flow = {}
        absorb(either, mine.flow, TRANSFORMATION)
        absorb(either, its.flow, TRANSFORMATION)
        return Output(name, either)
    return mine.called(name)


def _side(outputs: list[Output], name: str) -> Output:
    """A column of one side of a join: by name, or out of its stars."""
    known = [one for one in outputs if one.name == name]
    stars = [one for one in outputs if one.name == STAR]
    if known or not stars:
        return known[0] if known else Output(name, NOTHING)
    guessed = [Relation([star]).guess(name) for star in stars]
    return Output(name, joined(*(one.flow for one in guessed if one is not None)))
