"""How the normal forms of functions are read from a syntax tree: one rule for each class of the parser."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.conditions import compare, integer_of
from whence.capture.sql.fingerprint.normal_forms.functions import (
    count_where,
    fold_numbers,
    make_case,
    make_coalesce,
    make_concat,
    make_count,
    make_filtered,
)
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions

_HIVE_FAMILY: Final = frozenset({"spark", "databricks", "hive"})
_DATE_PARTS: Final = frozenset({"year", "quarter", "month", "day"})


def _subtract(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    parts = [e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))]
    folded = fold_numbers(e.store, "sub", parts)
    return folded if folded.op == "number" else e.store.make(*e.parts(scope, node))


def _case(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    operand = tree.this(node)
    branches: list[tuple[Formula, Formula]] = []
    for branch in tree.list_arg(node, tree.IFS):
        condition = e.value(scope, tree.this(branch))
        if operand is not None:
            condition = compare(e.store, "eq", e.value(scope, operand), condition)
        branches.append((condition, e.value(scope, tree.arg(branch, tree.TRUE))))
    return make_case(e.store, branches, _default(e, scope, tree.arg(node, tree.DEFAULT)))


def _if(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    condition, value = e.inside(scope, node), e.value(scope, tree.arg(node, tree.TRUE))
    return make_case(e.store, [(condition, value)], _default(e, scope, tree.arg(node, tree.FALSE)))


def _default(e: "Expressions", scope: Scope, node: tree.Node | None) -> Formula:
    return e.value(scope, node) if node is not None else e.store.make("null")


def _count(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    inside = tree.this(node)
    is_all = isinstance(inside, c.Star) or (isinstance(inside, c.Literal) and not tree.items(node)) or inside is None
    if is_all:
        return e.store.make("aggregate", "count", e.store.make("star"))
    values = [e.value(scope, item) for item in (inside, *tree.items(node))]
    return make_count(e.store, values[0]) if len(values) == 1 else e.store.make("aggregate", "count", *values)


def _filter(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return make_filtered(e.store, e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION)))


def _coalesce(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return make_coalesce(e.store, [e.value(scope, item) for item in (tree.this(node), *tree.items(node))])


def _concat(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    skips_null = bool(node.args.get("coalesce"))
    return make_concat(e.store, [e.value(scope, item) for item in tree.items(node)], skips_null)


def _join_texts(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    parts = (e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION)))
    return make_concat(e.store, parts, skips_null=False)


def _null_safe(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    left, right = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    return e.store.make(node.key, e.store.make("bag", left, right))


def _left(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """The first characters, as `substring` from the first one has them."""
    length = e.value(scope, tree.arg(node, tree.EXPRESSION))
    if (integer_of(length) or 0) <= 0:
        return e.store.make(*e.parts(scope, node))
    first = e.store.make("number", "1")
    return e.store.make("substring", "length", length, "start", first, "this", e.inside(scope, node))


def _count_if(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """Spark's counts true values, 0 without any; DuckDB's is a sum, which is NULL then, and of another type."""
    if scope.reading.dialect.name not in _HIVE_FAMILY:
        return e.store.make("aggregate", *e.parts(scope, node))
    return count_where(e.store, e.inside(scope, node))


def _offset(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """LAG and LEAD: the offset is 1 unless another one is given."""
    default = tree.arg(node, "default")
    offset = tree.arg(node, "offset")
    distance = e.value(scope, offset) if offset is not None else e.store.make("number", "1")
    rest = [e.value(scope, default)] if default is not None else []
    return e.store.make(node.key, e.inside(scope, node), distance, *rest)


def _decode(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DECODE as CASE, if it looks for literals: it finds NULL too, which CASE does not."""
    operand, *rest = (e.value(scope, item) for item in tree.items(node))
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    if not pairs or any(wanted.op not in ("string", "number") for wanted, _ in pairs):
        return e.store.make(*e.parts(scope, node))
    branches = [(compare(e.store, "eq", operand, wanted), value) for wanted, value in pairs]
    return make_case(e.store, branches, rest[-1] if len(rest) % 2 else e.store.make("null"))


def _to_date(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """Spark's and Hive's `to_date(x)` without a pattern is a cast."""
    if scope.reading.dialect.name not in _HIVE_FAMILY or set(_given(node)) - {tree.THIS, "safe"}:
        return e.store.make(*e.parts(scope, node))
    inside = e.inside(scope, node)
    return inside if _is_date(inside) else e.store.make("trycast", inside, e.store.make("type", "date"))


def _is_date(value: Formula) -> bool:
    return value.op in ("cast", "trycast") and value.args[1] is value.store.make("type", "date")


def _date_part(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`year(x)` as `EXTRACT(YEAR FROM x)`; the parser of Spark adds a cast to the first alone."""
    if set(_given(node)) != {tree.THIS}:
        return e.store.make(*e.parts(scope, node))
    inside = e.inside(scope, node)
    if scope.reading.dialect.name in _HIVE_FAMILY and tree.this(node).key == "tsordstodate" and _is_date(inside):
        (inside,) = (arg for arg in inside.args[:1] if isinstance(arg, Formula))
    return e.store.make("extract", node.key, inside)


def _extract(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    part = str(tree.this(tree.this(node))).lower() if isinstance(tree.this(node), c.Var) else ""
    if part not in _DATE_PARTS:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("extract", part, e.value(scope, tree.arg(node, tree.EXPRESSION)))


def _bracket(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A value of a map by a text; `element_at` is the same."""
    keys = [e.value(scope, item) for item in tree.items(node)]
    if [key.op for key in keys] != ["string"]:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("bracket", e.inside(scope, node), *keys)


def _sorted_array(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    parts = tuple(e.parts(scope, node))
    asc = parts.index("asc") if "asc" in parts else -1
    is_default = asc >= 0 and parts[asc + 1] is e.true
    return e.store.make(*parts[:asc], *parts[asc + 2 :]) if is_default else e.store.make(*parts)


def _given(node: tree.Node) -> Iterator[str]:
    return (name for name, value in node.args.items() if value)


FUNCTION_RULES: Final[Mapping[str, Callable[["Expressions", Scope, tree.Node], Formula]]] = {
    "sub": _subtract,
    "coalesce": _coalesce,
    "concat": _concat,
    "dpipe": _join_texts,
    "nullsafeeq": _null_safe,
    "nullsafeneq": _null_safe,
    "left": _left,
    "countif": _count_if,
    "lag": _offset,
    "lead": _offset,
    "decodecase": _decode,
    "tsordstodate": _to_date,
    "year": _date_part,
    "quarter": _date_part,
    "month": _date_part,
    "day": _date_part,
    "extract": _extract,
    "bracket": _bracket,
    "arraysort": _sorted_array,
    "sortarray": _sorted_array,
    "case": _case,
    "if": _if,
    "count": _count,
    "filter": _filter,
}
