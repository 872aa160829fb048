"""How the normal forms of functions are read from a syntax tree: one rule for each class of the parser."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from whence.capture.sql.fingerprint.normal_forms.arithmetic import add, minus
from whence.capture.sql.fingerprint.normal_forms.dates import (
    add_interval,
    is_shared_part,
    make_interval,
    part_of,
    subtract_interval,
)
from whence.capture.sql.fingerprint.normal_forms.functions import (
    count_where,
    make_case,
    make_coalesce,
    make_concat,
    make_count,
    make_extreme,
    make_filtered,
)
from whence.capture.sql.fingerprint.normal_forms.logic import compare, integer_of, is_condition, is_null, negate
from whence.capture.sql.fingerprint.normal_forms.texts import like
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions

_HIVE_FAMILY: Final = frozenset({"spark", "databricks", "hive"})
_ORDERED_BOOLEANS: Final = frozenset({"duckdb", "spark", "databricks"})
"""Dialects in which `max` and `min` take booleans, of which true is the greater."""


def _subtract(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    left, right = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    if right.op == "interval":
        return subtract_interval(e.store, left, right)
    return e.store.make("sub", left, right) if left.op == "interval" else add(e.store, [left, minus(e.store, right)])


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
    rest = [e.value(scope, default)] if default is not None and default.key != "null" else []
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
    if set(_given(node)) != {tree.THIS} or not is_shared_part(scope.reading.dialect.name, part_of(node.key)):
        return e.store.make(*e.parts(scope, node))
    inside = e.inside(scope, node)
    if scope.reading.dialect.name in _HIVE_FAMILY and tree.this(node).key == "tsordstodate" and _is_date(inside):
        (inside,) = (arg for arg in inside.args[:1] if isinstance(arg, Formula))
    return e.store.make("extract", part_of(node.key), inside)


def _extract(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    part = part_of(str(tree.this(tree.this(node)))) if isinstance(tree.this(node), c.Var) else ""
    if not is_shared_part(scope.reading.dialect.name, part):
        return e.store.make(*e.parts(scope, node))
    return e.store.make("extract", part, e.value(scope, tree.arg(node, tree.EXPRESSION)))


def list_item(dialect: str, name: str, arguments: Sequence[Formula]) -> Formula | None:
    """DuckDB's `list_extract(x, 1)` as `x[1]`, whose place the parser counts from 0."""
    place = integer_of(arguments[1]) if len(arguments) == 2 else None
    if dialect != "duckdb" or name not in ("list_extract", "list_element") or not place or place < 0:
        return None
    make = arguments[0].store.make
    return make("bracket", "expressions", make("list", make("number", str(place - 1))), tree.THIS, arguments[0])


def _interval(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    unit, amount = tree.arg(node, "unit"), node.args.get(tree.THIS)
    found = None
    if isinstance(unit, c.Var) and isinstance(amount, tree.Node):
        found = make_interval(e.store, e.value(scope, amount), str(tree.this(unit)))
    return found if found is not None else e.store.make(*e.parts(scope, node))


def _date_add(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `date_add(x, interval)` is `x + interval`."""
    inside, amount = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    is_sum = scope.reading.dialect.name == "duckdb" and set(_given(node)) == {tree.THIS, tree.EXPRESSION}
    if is_sum and amount.op == "interval":
        return add_interval(e.store, [inside, amount])
    return e.store.make(*e.parts(scope, node))


def _date(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `date(x)` is a cast."""
    if scope.reading.dialect.name != "duckdb" or set(_given(node)) != {tree.THIS}:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("cast", e.inside(scope, node), e.store.make("type", "date"))


def _nullif(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    value, null = e.inside(scope, node), e.store.make("null")
    equal = compare(e.store, "eq", value, e.value(scope, tree.arg(node, tree.EXPRESSION)))
    return make_case(e.store, [(equal, null)], value)


def _nvl2(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    is_known = negate(e.store, is_null(e.inside(scope, node)))
    given = e.value(scope, tree.arg(node, tree.TRUE))
    return make_case(e.store, [(is_known, given)], _default(e, scope, tree.arg(node, tree.FALSE)))


def _like(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """LIKE and ILIKE; NOT LIKE is NOT of it."""
    value, pattern = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    found = like(e.store, scope.reading.dialect.name, value, pattern) if node.key == "like" else None
    if set(_given(node)) - {tree.THIS, tree.EXPRESSION, "negate"}:
        return e.store.make(*e.parts(scope, node))
    made = found if found is not None else e.store.make(node.key, "expression", pattern, "this", value)
    return negate(e.store, made) if node.args.get("negate") else made


def _search(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`starts_with` and `contains`."""
    if set(_given(node)) != {tree.THIS, tree.EXPRESSION}:
        return e.store.make(*e.parts(scope, node))
    return e.store.make(node.key, e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION)))


def _trim(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """TRIM of both sides, also as one of each side."""
    if set(_given(node)) - {tree.THIS, "position"}:
        return e.store.make(*e.parts(scope, node))
    position, inside = str(node.args.get("position") or "BOTH").upper(), e.inside(scope, node)
    turned = {"LEADING": "TRAILING", "TRAILING": "LEADING"}.get(position)
    if inside.op == "trim" and inside.args[0] == turned:
        return e.store.make("trim", "BOTH", *(arg for arg in inside.args[1:]))
    return e.store.make("trim", position, inside)


def _extreme(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """`max` and `min`: DISTINCT says nothing. Of conditions they are `bool_or` and `bool_and`."""
    inside = tree.this(node)
    is_distinct = isinstance(inside, c.Distinct) and len(tree.items(inside)) == 1
    if set(_given(node)) != {tree.THIS} or (isinstance(inside, c.Distinct) and not is_distinct):
        return e.store.make("aggregate", *e.parts(scope, node))
    value = e.value(scope, tree.items(inside)[0] if is_distinct else inside)
    is_boolean = scope.reading.dialect.name in _ORDERED_BOOLEANS and is_condition(value)
    kind = {"max": "logicalor", "min": "logicaland"}[node.key] if is_boolean else node.key
    return e.store.make("aggregate", kind, tree.THIS, value)


def _array_size(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `array_length(x)` is `len(x)`, which it has for lists too."""
    if scope.reading.dialect.name != "duckdb" or set(_given(node)) != {tree.THIS}:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("length", tree.THIS, e.inside(scope, node))


def _greatest(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """GREATEST and LEAST: their arguments have no order."""
    values = [e.inside(scope, node), *(e.value(scope, item) for item in tree.items(node))]
    flags = [f"{name} {value}" for name, value in sorted(node.args.items()) if isinstance(value, bool)]
    return make_extreme(e.store, node.key, values, flags)


def _letters(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """LOWER and UPPER: blanks at the ends have no case, so that TRIM may come before or after."""
    inside = e.inside(scope, node)
    if set(_given(node)) != {tree.THIS} or inside.op == node.key:
        return inside if inside.op == node.key else e.store.make(*e.parts(scope, node))
    if inside.op == "trim" and len(inside.args) == 2 and isinstance(inside.args[1], Formula):
        return e.store.make("trim", inside.args[0], e.store.make(node.key, tree.THIS, inside.args[1]))
    return e.store.make(node.key, tree.THIS, inside)


def _is(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """IS NULL of a function that is NULL for NULL alone is one of its argument."""
    tested = e.value(scope, tree.arg(node, tree.EXPRESSION))
    if tested.op != "null" or set(_given(node)) != {tree.THIS, tree.EXPRESSION}:
        return e.store.make(*e.parts(scope, node))
    return is_null(e.inside(scope, node))


def _data_type(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A type. Oracle's dates have a time, so that rules on days are not for them."""
    name = tree.source_text(node, scope.reading.dialect.parser).lower()
    has_time = name == "date" and scope.reading.dialect.name == "oracle"
    return e.store.make("type", "date with a time" if has_time else name)


def _ignore_nulls(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's `any_value` takes no NULL, which its parser writes out."""
    inside = e.inside(scope, node)
    is_known = inside.op == "aggregate" and inside.args[0] == "anyvalue" and scope.reading.dialect.name == "duckdb"
    return inside if is_known else e.store.make(*e.parts(scope, node))


def _extreme_by(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """The value for which itself is smallest or greatest."""
    value = e.inside(scope, node)
    if set(_given(node)) == {tree.THIS, tree.EXPRESSION} and value is e.value(scope, tree.arg(node, tree.EXPRESSION)):
        return e.store.make("aggregate", node.key.removeprefix("arg"), tree.THIS, value)
    return e.store.make("aggregate", *e.parts(scope, node))


def _divide(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """DuckDB's average as the quotient that it is; others divide whole numbers otherwise."""
    left, right = e.inside(scope, node), e.value(scope, tree.arg(node, tree.EXPRESSION))
    match (left.op, *left.args, right.op, *right.args):
        case ("aggregate", "sum", "this", Formula() as total, "aggregate", "count", Formula() as counted) if (
            total is counted and total.op != "distinct" and scope.reading.dialect.name == "duckdb"
        ):
            return e.store.make("aggregate", "avg", "this", total)
    return e.store.make(*e.parts(scope, node))


def _bracket(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A value of a map by a text; `element_at` is the same. DuckDB's structs have their fields so too."""
    keys = [e.value(scope, item) for item in tree.items(node)]
    inside = tree.this(node)
    if (
        scope.reading.dialect.name == "duckdb"
        and [key.op for key in keys] == ["string"]
        and isinstance(inside, c.Column)
    ):
        return e.store.make("field", e.inside(scope, node), str(keys[0].args[0]))
    if [key.op for key in keys] != ["string"]:
        return e.store.make(*e.parts(scope, node))
    return e.store.make("bracket", e.inside(scope, node), *keys)


def _sorted_array(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    parts = tuple(e.parts(scope, node))
    asc = parts.index("asc") if "asc" in parts else -1
    is_default = asc >= 0 and parts[asc + 1] is e.true
    return e.store.make(*parts[:asc], *parts[asc + 2 :]) if is_default else e.store.make(*parts)


def _frame(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    """A frame without an end ends with the current row."""
    end = ("end", e.store.make("text", "CURRENT ROW")) if not tree.arg(node, "end") else ()
    kind, *rest = e.parts(scope, node)
    return e.store.make(kind, *end, *rest)


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
    "dayofmonth": _date_part,
    "hour": _date_part,
    "minute": _date_part,
    "dayofweek": _date_part,
    "dayofyear": _date_part,
    "extract": _extract,
    "interval": _interval,
    "date": _date,
    "dateadd": _date_add,
    "nullif": _nullif,
    "nvl2": _nvl2,
    "like": _like,
    "ilike": _like,
    "startswith": _search,
    "contains": _search,
    "trim": _trim,
    "max": _extreme,
    "min": _extreme,
    "arraysize": _array_size,
    "argmax": _extreme_by,
    "argmin": _extreme_by,
    "datatype": _data_type,
    "ignorenulls": _ignore_nulls,
    "is": _is,
    "lower": _letters,
    "upper": _letters,
    "greatest": _greatest,
    "least": _greatest,
    "div": _divide,
    "bracket": _bracket,
    "arraysort": _sorted_array,
    "sortarray": _sorted_array,
    "case": _case,
    "if": _if,
    "count": _count,
    "filter": _filter,
    "windowspec": _frame,
}
