"""Sums, differences and quotients in the syntax tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, _inside
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, fold_numbers, minus
from whence.capture.sql.fingerprint.normal_forms.values.dates import add_interval, subtract_interval
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.conditions import conjuncts
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _subtract(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    left, right = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    if right.op == "interval":
        return subtract_interval(e.store, left, right)
    return e.store.make("sub", left, right) if left.op == "interval" else add(e.store, [left, minus(e.store, right)])


def _divide(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's average as the quotient that it is; others divide whole numbers otherwise."""
    left, right = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    match (left.op, *left.args, right.op, *right.args):
        case ("aggregate", "sum", "this", Formula() as total, "aggregate", "count", Formula() as counted) if (
            total is counted and total.op != "distinct" and scope.reading.dialect.name == "duckdb"
        ):
            return e.store.make("aggregate", "avg", "this", total)
    return e.store.make(*e.parts(scope, node))


def _arithmetic(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """Sums and products: without order, except where `+` may join texts."""
    parts = [e.value(scope, part) for part in conjuncts(node, type(node))]
    if scope.reading.dialect.name == "tsql" and node.key == "add" and not any(part.op == "number" for part in parts):
        return e.store.make("plus", *parts)
    if any(part.op == "interval" for part in parts):
        return add_interval(e.store, parts)
    return add(e.store, parts) if node.key == "add" else fold_numbers(e.store, "mul", parts)


def _negative(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return minus(e.store, _inside(e, scope, node))


RULES: Final[Mapping[str, Rule]] = {
    "div": _divide,
    "sub": _subtract,
    "add": _arithmetic,
    "mul": _arithmetic,
    "neg": _negative,
}
