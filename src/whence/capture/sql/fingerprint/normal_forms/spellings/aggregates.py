"""Aggregates in the syntax tree."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.aggregates.filtered import count_where, make_count, make_filtered
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import is_condition
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import HIVE_FAMILY, Rule, given
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of, integer_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import is_exact_type, type_of
from whence.capture.sql.fingerprint.normal_forms.values.arithmetic import add, with_sign
from whence.capture.sql.fingerprint.normal_forms.values.cases import make_case
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


_ORDERED_BOOLEANS: Final = frozenset({"duckdb", "spark", "databricks"})
"""Dialects in which `max` and `min` take booleans, of which true is the greater."""


def _count(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    inside = tree.this(node)
    is_all = isinstance(inside, c.Star) or (isinstance(inside, c.Literal) and not tree.items(node)) or inside is None
    if is_all:
        return e.store.make("aggregate", "count", e.store.make("star"))
    values = [e.value(scope, item) for item in (inside, *tree.items(node))]
    return make_count(e.store, values[0]) if len(values) == 1 else e.store.make("aggregate", "count", *values)


def _filter(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return make_filtered(e.store, e.inside(scope, node), e.matched(e.value(scope, tree.arg(node, tree.EXPRESSION))))


def _count_if(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """Spark's and BigQuery's count true values, 0 without any; DuckDB's is a sum of 1 and 0, which is NULL then, and of
    another type. Snowflake documents NULL, too.
    """
    dialect = scope.reading.dialect.name
    if dialect not in (*HIVE_FAMILY, "bigquery", "duckdb") or isinstance(tree.this(node), c.Distinct):
        return e.store.make("aggregate", *e.parts(scope, node))
    condition = e.matched(e.inside(scope, node))
    if dialect != "duckdb":
        return count_where(e.store, condition)
    one, zero = (e.store.make("number", text) for text in ("1", "0"))
    return e.store.make("aggregate", "sum", tree.THIS, make_case(e.store, [(condition, one)], zero))


def _extreme(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`max` and `min`: DISTINCT says nothing. Of conditions they are `bool_or` and `bool_and`."""
    inside = tree.this(node)
    is_distinct = isinstance(inside, c.Distinct) and len(tree.items(inside)) == 1
    if set(given(node)) != {tree.THIS} or (isinstance(inside, c.Distinct) and not is_distinct):
        return e.store.make("aggregate", *e.parts(scope, node))
    value = e.value(scope, tree.items(inside)[0] if is_distinct else inside)
    is_boolean = is_condition(value) or type_of(value) == "boolean"
    is_boolean = is_boolean and scope.reading.dialect.name in _ORDERED_BOOLEANS
    kind = {"max": "logicalor", "min": "logicaland"}[node.key] if is_boolean else node.key
    return e.store.make("aggregate", kind, tree.THIS, value)


def _ignore_nulls(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `any_value` takes no NULL, which its parser writes out."""
    inside = e.inside(scope, node)
    is_known = inside.op == "aggregate" and inside.args[0] == "anyvalue" and scope.reading.dialect.name == "duckdb"
    return inside if is_known else e.store.make(*e.parts(scope, node))


def _extreme_by(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """The value for which itself is smallest or greatest."""
    value = e.inside(scope, node)
    if set(given(node)) == {tree.THIS, tree.EXPRESSION} and value is e.value(scope, tree.arg(node, tree.EXPRESSION)):
        return e.store.make("aggregate", node.key.removeprefix("arg"), tree.THIS, value)
    return e.store.make("aggregate", *e.parts(scope, node))


def _within_group(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `percentile_cont(p) WITHIN GROUP (ORDER BY x)` is `quantile_cont(x, p)`, which leaves out NULL, too."""
    share, items = tree.this(node), tree.items(tree.arg(node, tree.EXPRESSION))
    is_quantile = isinstance(share, c.PercentileCont) and set(given(share)) == {tree.THIS} and len(items) == 1
    is_ascending = bool(items) and isinstance(items[0], c.Ordered) and not tree.arg(items[0], "desc")
    if scope.reading.dialect.name != "duckdb" or not is_quantile or not is_ascending:
        return e.store.make("aggregate", *e.parts(scope, node))
    return e.store.make("aggregate", "quantile", e.inside(scope, items[0]), e.inside(scope, share))


def _quantile(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `quantile_cont(x, p)` of a literal p. `median(x)` is the one for 0.5 of all types that this takes."""
    share = tree.arg(node, tree.EXPRESSION)
    is_known = scope.reading.dialect.name == "duckdb" and set(given(node)) == {tree.THIS, tree.EXPRESSION}
    if not is_known or not isinstance(share, c.Literal):
        return e.store.make("aggregate", *e.parts(scope, node))
    return e.store.make("aggregate", "quantile", e.inside(scope, node), e.value(scope, share))


def _median(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    if scope.reading.dialect.name != "duckdb" or set(given(node)) != {tree.THIS}:
        return e.store.make("aggregate", *e.parts(scope, node))
    return e.store.make("aggregate", "quantile", e.inside(scope, node), e.store.make("number", "0.5"))


def _sum(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """SUM: `0 - x` and `-1 * x` are `-x` in it, whatever digits the types of them have."""
    if set(given(node)) != {tree.THIS} or isinstance(tree.this(node), c.Distinct):
        return e.store.make("aggregate", *e.parts(scope, node))
    return e.store.make("aggregate", "sum", tree.THIS, _without_zero(with_sign(e.store, e.inside(scope, node))))


def _without_zero(value: Formula) -> Formula:
    """A value of decimals without zeros that are added."""
    if value.op == "case":
        return value.store.rebuild(value, _without_zero)
    zeros = [part for part in formulas_of(value) if integer_of(part) == 0]
    others = [part for part in formulas_of(value) if integer_of(part) != 0]
    is_exact = bool(zeros) and all(is_exact_type(type_of(part)) for part in others)
    return add(value.store, others) if value.op == "add" and others and is_exact else value


RULES: Final[Mapping[str, Rule]] = {
    "ignorenulls": _ignore_nulls,
    "max": _extreme,
    "sum": _sum,
    "min": _extreme,
    "argmax": _extreme_by,
    "argmin": _extreme_by,
    "count": _count,
    "filter": _filter,
    "countif": _count_if,
    "withingroup": _within_group,
    "percentilecont": _quantile,
    "median": _median,
}
