"""Sums, differences and quotients in the syntax tree."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, _inside
from whence.capture.sql.fingerprint.normal_forms.terms.days import is_day
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.signs import absolute, minus
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, is_whole_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, divide, multiply
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.fingerprint.normal_forms.values.dates import (
    add_interval,
    after_last_day,
    as_last_day,
    days_between,
    subtract_interval,
)
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
    if left.op == "interval":
        return e.store.make("sub", left, right)
    if is_day(left) and is_day(right) and scope.reading.dialect.name == "duckdb":
        return days_between(e.store, right, left)
    if integer_of(left) == 0 and is_whole_type(type_of(right)):
        return minus(e.store, right)
    difference = add(e.store, [left, minus(e.store, right)])
    return as_last_day(e.store, difference) or difference


def _divide(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A quotient; a divisor that is NULL instead of zero is a test of the quotient."""
    left, right = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    if scope.reading.dialect.name == "duckdb":
        left = _without_one(left)
    match (right.op, *right.args):
        case ("case", Formula(op="eq") as is_zero, Formula(op="null") as null, Formula() as divisor) if (
            e.store.make("number", "0") in is_zero.args and divisor in is_zero.args
        ):
            return make_case(e.store, [(is_zero, null)], _quotient(e, scope, node, left, divisor))
    return _quotient(e, scope, node, left, right)


def _quotient(e: "Expressions", scope: Scope, node: tree.Node, left: Formula, right: Formula) -> Formula:
    rest = [f"{name} {value}" for name, value in sorted(node.args.items()) if isinstance(value, bool) and value]
    return divide(e.store, left, right, rest)


def _without_one(value: Formula) -> Formula:
    """A numerator without the factor 1.0: DuckDB divides as floating-point numbers anyway."""
    parts = formulas_of(value)
    others = [part for part in parts if not (part.op == "number" and re.fullmatch(r"1\.0*", str(part.args[0])))]
    is_number = len(others) == 1 and (is_exact_type(type_of(others[0])) or others[0].op == "aggregate")
    return others[0] if value.op == "mul" and is_number else value


def _arithmetic(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """Sums and products: without order, except where `+` may join texts."""
    parts = [e.value(scope, part) for part in conjuncts(node, type(node))]
    if scope.reading.dialect.name == "tsql" and node.key == "add" and not any(part.op == "number" for part in parts):
        return e.store.make("plus", *parts)
    if any(part.op == "interval" for part in parts):
        return add_interval(e.store, parts)
    if node.key == "mul":
        return multiply(e.store, parts)
    total = add(e.store, parts)
    return after_last_day(e.store, total) or total


def _negative(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return minus(e.store, _inside(e, scope, node))


def _absolute(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return absolute(e.store, e.inside(scope, node))


RULES: Final[Mapping[str, Rule]] = {
    "div": _divide,
    "sub": _subtract,
    "add": _arithmetic,
    "mul": _arithmetic,
    "neg": _negative,
    "abs": _absolute,
}
