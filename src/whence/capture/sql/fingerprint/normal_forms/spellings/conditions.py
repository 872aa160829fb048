"""Conditions in the syntax tree."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, connect, is_condition, negate
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import Rule, _inside, given
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.nulls import is_null
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_boolean, is_exact_type, is_rounded_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.date_tests import format_test
from whence.capture.sql.fingerprint.normal_forms.values.dates import fold_date
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.fingerprint.normal_forms.values.text_tests import prefix_test
from whence.capture.sql.names.names import column_name
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.queries.conditions import conjuncts
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


def _null_safe(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`IS [NOT] DISTINCT FROM`; of rows it is one of each pair of their values."""
    left, right = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    if left.op == right.op == "tuple" and scope.reading.dialect.name in ("duckdb", "postgres"):
        sides = [[one for part in formulas_of(side) for one in formulas_of(part)] for side in (left, right)]
        if len(sides[0]) == len(sides[1]) and all(
            part.op == "list" for side in (left, right) for part in formulas_of(side)
        ):
            pairs = [e.store.make(node.key, e.store.make("bag", *pair)) for pair in zip(*sides, strict=True)]
            return connect(e.store, "and" if node.key == "nullsafeeq" else "or", pairs)
    for value, wanted in ((left, right), (right, left)):
        if wanted.op == "boolean" and (is_condition(value) or is_boolean(value)):
            found = _is_truth(e.store, value, wanted)
            return found if node.key == "nullsafeeq" else negate(e.store, found)
    return e.store.make(node.key, e.store.make("bag", left, right))


def _is(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """IS NULL of a function that is NULL for NULL alone is one of its argument."""
    tested = e.value(scope, tree.arg(node, tree.EXPRESSION))
    if tested.op == "boolean" and set(given(node)) == {tree.THIS, tree.EXPRESSION}:
        return _is_boolean(e, scope, node, tested)
    if tested.op != "null" or set(given(node)) != {tree.THIS, tree.EXPRESSION}:
        return e.store.make(*e.parts(scope, node))
    return is_null(e.inside(scope, node))


def _is_boolean(e: "Expressions", scope: Scope, node: tree.Node, wanted: Formula) -> Formula:
    """`f IS TRUE` as a default for NULL, where it is certain that f is a condition."""
    inside = e.inside(scope, node)
    if not is_condition(inside) and type_of(inside) != "boolean":
        return e.store.make(*e.parts(scope, node))
    return _is_truth(e.store, inside, wanted)


def _is_truth(store: Formulas, condition: Formula, wanted: Formula) -> Formula:
    """Whether a condition is true, or false as wanted, and not NULL."""
    false = store.make("boolean", "false")
    return make_coalesce(store, [negate(store, condition) if wanted is false else condition, false])


def _connector(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    parts = [e.value(scope, part) for part in conjuncts(node, type(node))]
    return connect(e.store, node.key, parts)


def _not(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return negate(e.store, _inside(e, scope, node))


def _compare(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    quantified = tree.arg(node, tree.EXPRESSION)
    if (node.key, quantified.key) in (("eq", "any"), ("neq", "all")) and (found := _member(e, scope, node)) is not None:
        return found if node.key == "eq" else negate(e.store, found)
    left, right = (fold_date(e.store, side) for side in (_inside(e, scope, node), e.value(scope, quantified)))
    return compared(e.store, node.key, left, right)


def compared(store: Formulas, operation: str, left: Formula, right: Formula) -> Formula:
    """A comparison as it is written: with the beginning of a text, and with a formatted day, it is one of the value."""
    for test in (prefix_test, format_test):
        if (found := test(store, operation, left, right)) is not None:
            return found
    return compare(store, operation, left, right)


def _member(e: "Expressions", scope: Scope, node: tree.Node) -> Formula | None:
    """`= ANY (…)` as IN."""
    inside = tree.this(tree.arg(node, tree.EXPRESSION))
    query = tree.query_in(inside) if not isinstance(inside, c.Query) else inside
    if query is not None:
        return _in_query(e, scope, query, _inside(e, scope, node))
    array = inside.unnest()
    if not isinstance(array, c.Array) or not tree.items(array):
        return None
    return _in_items(e, _inside(e, scope, node), [e.value(scope, item) for item in tree.items(array)])


def _between(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    if tree.arg(node, "symmetric"):
        return e.store.make(*e.parts(scope, node))
    value, low, high = (fold_date(e.store, e.value(scope, tree.arg(node, name))) for name in (tree.THIS, "low", "high"))
    if _has_other_type(value, [low, high]):
        return e.store.make(*e.parts(scope, node))
    if low is high:
        return compare(e.store, "eq", value, low)
    return connect(e.store, "and", [compare(e.store, "lte", low, value), compare(e.store, "lte", value, high)])


def _in(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    query = tree.arg(node, "query")
    value = _inside(e, scope, node)
    if query is not None:
        return _in_query(e, scope, tree.query_in(query) or query, value)
    if not tree.items(node) or any(tree.arg(node, name) for name in ("field", "unnest", "is_global")):
        return e.store.make(*e.parts(scope, node))
    items = [e.value(scope, item) for item in tree.items(node)]
    return e.store.make(*e.parts(scope, node)) if _has_other_type(value, items) else _in_items(e, value, items)


_DOUBLE = ("double", "double precision")


def _has_other_type(value: Formula, others: Sequence[Formula]) -> bool:
    """Whether BETWEEN or IN compares a value as another type than each comparison would: BIGINT beside BIGINT and
    DOUBLE as DOUBLE, which has fewer digits; a text beside a text and a number as a number.
    """
    is_exact = is_exact_type(type_of(value)) and integer_of(value) is None
    rounded = [one for one in others if is_rounded_type(type_of(one))]
    # A REAL is compared with 0.7 as REAL, but beside a DOUBLE all of them are compared as DOUBLE.
    is_single = is_rounded_type(type_of(value)) and type_of(value) not in _DOUBLE
    if is_exact or is_single:
        wider = [one for one in rounded if is_exact or type_of(one) in _DOUBLE]
        if wider:
            return any(integer_of(one) is None for one in others if one not in wider)
    if type_of(value) == "date" and any(type_of(one) == "timestamp" for one in others):
        return any(one.op == "string" for one in others)
    kinds = {one.op for one in others} & {"number", "string"}
    return type_of(value) == "text" and len(kinds) == 2


def _in_query(e: "Expressions", scope: Scope, query: tree.Node, value: Formula) -> Formula:
    rows, values, matching = e.matching_rows(scope, query, value)
    found = e.store.make("in", value, e.store.make("in_query", rows, *values))
    if matching is not None:
        e.matches[found] = matching
    return found


def _in_items(e: "Expressions", value: Formula, items: list[Formula]) -> Formula:
    return connect(e.store, "or", [compared(e.store, "eq", value, item) for item in items])


def _exists(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    inside = tree.query_in(tree.this(node))
    if inside is None:
        return _exists_in_array(e, scope, node)
    return e.existence(scope, inside)


def _exists_in_array(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`exists(array, x -> x = literal)` of Spark: array_contains, NULL if neither is found and an element is NULL."""
    test = tree.arg(node, tree.EXPRESSION)
    equality = tree.this(test) if isinstance(test, c.Lambda) and len(tree.items(test)) == 1 else None
    if isinstance(equality, c.EQ) and scope.reading.dialect.name in ("spark", "databricks"):
        name = column_name(scope.reading.dialect, tree.items(test)[0])
        sides = [tree.this(equality), tree.arg(equality, tree.EXPRESSION)]
        for side, other in (sides, sides[::-1]):
            is_parameter = (
                isinstance(side, c.Identifier | c.Column) and column_name(scope.reading.dialect, side) == name
            )
            if is_parameter and isinstance(other, c.Literal):
                array = e.value(scope, tree.this(node))
                return e.store.make("arraycontains", "expression", e.value(scope, other), "this", array)
    return e.store.make(*e.parts(scope, node))


RULES: Final[Mapping[str, Rule]] = {
    "nullsafeeq": _null_safe,
    "nullsafeneq": _null_safe,
    "is": _is,
    "eq": _compare,
    "neq": _compare,
    "lt": _compare,
    "lte": _compare,
    "gt": _compare,
    "gte": _compare,
    "and": _connector,
    "or": _connector,
    "in": _in,
    "between": _between,
    "not": _not,
    "exists": _exists,
}
