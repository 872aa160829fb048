"""The type of an expression in the syntax tree."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from whence.capture.sql.fingerprint.data_types.arithmetic import combine, negative
from whence.capture.sql.fingerprint.data_types.common import common_type
from whence.capture.sql.fingerprint.data_types.functions import (
    BY_ARGUMENT,
    FIRST,
    NAMES,
    PARTS,
    by_argument,
    element,
)
from whence.capture.sql.fingerprint.data_types.terms import (
    decimal_of,
    declared,
    declared_type,
    depends,
    is_number,
    is_whole,
    make_decimal,
    name_of,
    named,
    settled,
)
from whence.capture.sql.fingerprint.normal_forms.spellings.syntax import HIVE_FAMILY
from whence.capture.sql.provenance.formulas import Formula, Formulas
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree

Rule = Callable[[Formulas, Scope, tree.Node], Formula | None]
_FRACTIONS: Final = frozenset({"epoch", "julian"})
"""Parts of times that are no whole numbers."""
_DAYS: Final = frozenset({"day", "week", "month", "quarter", "year"})
_COMPUTED_LISTS: Final = frozenset({"transform", "arrayfilter", "comprehension"})
_DISTANCES: Final = frozenset({"date_sub", "datesub", "date_diff", "datediff"})
_SIDES: Final = frozenset({"add", "sub", "mul", "div", "intdiv", "mod"})


def column_type(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """The type of a column that an expression makes. None if it is not known what it depends on."""
    return settled(data_type(store, scope, node))


def data_type(store: Formulas, scope: Scope, node: Any) -> Formula | None:
    """The type of an expression; of a literal with its text."""
    if not isinstance(node, tree.Node):
        return None
    if isinstance(node, c.Query):
        return next((one.data_type for one in scope.query(node).outputs), None)
    key = node.key
    if key in _RULES:
        return _RULES[key](store, scope, node)
    if key in _SIDES:
        sides = [data_type(store, scope, node.args.get(name)) for name in (tree.THIS, tree.EXPRESSION)]
        return combine(store, key, *sides)
    if key in PARTS:
        return _part(store, node)
    if key in FIRST:
        return settled(data_type(store, scope, tree.this(node)))
    if key in BY_ARGUMENT:
        return by_argument(store, key, data_type(store, scope, tree.this(node)))
    if key in NAMES:
        return _fixed(store, node)
    if key in _COMPUTED_LISTS:
        return None
    others = [one for one in _arguments(node) if not isinstance(one, c.Literal | c.Boolean | c.Var)]
    return depends(store, _name(node), *(settled(data_type(store, scope, one)) for one in others))


def _fixed(store: Formulas, node: tree.Node) -> Formula | None:
    """A type that does not depend on arguments. What counts has the same one, whatever it is called."""
    key, name = node.key, NAMES[node.key]
    if store.dialect == "duckdb" or name in ("boolean", "text", "date"):
        return named(store, name)
    if store.dialect == "tsql" and key == "count":
        return named(store, "bigint" if node.args.get("big_int") else "int")
    return depends(store, "count" if key in ("count", "countif") else key)


def _name(node: tree.Node) -> str:
    return str(tree.this(node)).lower() if node.key == "anonymous" else node.key


def _arguments(node: tree.Node) -> Iterator[tree.Node]:
    for _, value in sorted(node.args.items()):
        yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, tree.Node))


def _inside(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    return data_type(store, scope, tree.this(node))


def _first_item(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    items = tree.items(node)
    return data_type(store, scope, items[0]) if len(items) == 1 else None


def _column(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    found = None if tree.is_star(node) else scope.value(tree.column_parts(node), []).data_type
    return declared_type(found) if found is not None else None


def _literal(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    text, is_string = tree.text_of(node)
    if is_string:
        return named(store, "text", f"'{text}'")
    if text.isdigit():
        name = "integer" if int(text) < 2**31 else "bigint" if int(text) < 2**63 else "hugeint"
        return named(store, name, text)
    whole, _, behind = text.partition(".")
    if not (whole + behind).isdigit():
        return named(store, "double")
    return make_decimal(store, len(whole or "0") + len(behind), len(behind))


def _cast(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    return declared(store, tree.source_text(tree.arg(node, tree.TO), scope.reading.dialect.parser))


def _case(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    values = [tree.arg(one, tree.TRUE) for one in tree.list_arg(node, tree.IFS)]
    return _one_of(store, scope, [*values, tree.arg(node, tree.DEFAULT)])


def _if(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    return _one_of(store, scope, [tree.arg(node, tree.TRUE), tree.arg(node, tree.FALSE)])


def _several(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    return _one_of(store, scope, [tree.this(node), *tree.items(node)])


def _one_of(store: Formulas, scope: Scope, values: list[tree.Node | None]) -> Formula | None:
    return common_type(store, [data_type(store, scope, one) for one in values if one is not None])


def _part(store: Formulas, node: tree.Node) -> Formula | None:
    unit = tree.text_of(tree.this(node))[0].lower() if node.key == "extract" else node.key
    if unit in _FRACTIONS:
        return named(store, "double") if store.dialect == "duckdb" else depends(store, unit)
    return named(store, "bigint") if store.dialect == "duckdb" else depends(store, "extract")


def _call(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """A function without a class in the parser that another spelling has."""
    name, items = _name(node), tree.items(node)
    if store.dialect == "duckdb" and name in ("date_part", "datepart") and items:
        unit = tree.text_of(items[0])[0].lower()
        return named(store, "double" if unit in _FRACTIONS else "bigint")
    if store.dialect == "duckdb" and name == "timezone" and len(items) == 2:
        return by_argument(store, "attimezone", data_type(store, scope, items[1]))
    if store.dialect == "duckdb" and name in ("list_extract", "list_element") and items:
        return by_argument(store, "explode", data_type(store, scope, items[0]))
    if store.dialect == "duckdb" and name in _DISTANCES:
        return named(store, "bigint")
    return depends(store, name, *(settled(data_type(store, scope, one)) for one in items))


def _bracket(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """An item of a list; of a map or a struct what nobody knows."""
    inside = _inside(store, scope, node)
    found = element(store, inside) if inside is not None else None
    return found if found is not None else depends(store, "explode", settled(inside))


def _date_add(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """`date_add(d, INTERVAL 1 DAY)`, which is a sum."""
    sides = [data_type(store, scope, node.args.get(name)) for name in (tree.THIS, tree.EXPRESSION)]
    moved = sides[1] is not None and name_of(sides[1]) in ("interval", "interval of days")
    return combine(store, "add", *sides) if moved else depends(store, node.key, settled(sides[0]))


def _interval(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    unit = tree.arg(node, "unit")
    is_of_days = unit is not None and tree.text_of(unit)[0].lower().rstrip("s") in _DAYS
    return named(store, "interval of days" if is_of_days else "interval")


def _decode(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """DECODE gives every second of its arguments, and the last one if it is without a pair."""
    rest = tree.items(node)[1:]
    return _one_of(store, scope, [*rest[1::2], *(rest[-1:] if len(rest) % 2 else ())])


def _moved(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """Spark's `date_add` and `date_sub` give a date."""
    inside = settled(_inside(store, scope, node))
    return named(store, "date") if store.dialect in HIVE_FAMILY else depends(store, node.key, inside)


def _neg(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    return negative(store, _inside(store, scope, node))


def _round(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """A decimal that is rounded has no more digits behind its point than that."""
    value, places = _inside(store, scope, node), tree.arg(node, "decimals")
    if value is None or store.dialect != "duckdb" or not is_number(value) or is_whole(value):
        return value if value is not None and is_whole(value) else depends(store, "round", settled(value))
    digits = decimal_of(value)
    if digits is None:
        return settled(value)
    text = tree.text_of(places)[0] if isinstance(places, c.Literal) else "0" if places is None else ""
    return make_decimal(store, digits[0], min(int(text), digits[1])) if text.isdigit() else None


def _joined(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """`||` and `concat`: of lists a list, else a text."""
    values = [data_type(store, scope, one) for one in _arguments(node)]
    lists = [one for one in values if one is not None and name_of(one).endswith("]")]
    return common_type(store, lists) if lists else named(store, "text")


def _within_group(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    """`percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`: of x."""
    order, function = tree.arg(node, tree.EXPRESSION), tree.this(node)
    value = _first_item(store, scope, order) if order is not None else None
    if function.key in BY_ARGUMENT:
        return by_argument(store, function.key, value)
    return settled(value) if function.key in FIRST else depends(store, function.key, settled(value))


def _list(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    inside = settled(_one_of(store, scope, [*tree.items(node)]))
    return named(store, f"{name_of(inside)}[]") if inside is not None and name_of(inside) else None


def _null(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    return named(store, "null")


def _unknown(store: Formulas, scope: Scope, node: tree.Node) -> Formula | None:
    return None


_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("paren", "alias", "window", "filter", "ignorenulls", "respectnulls", "order", "ordered"), _inside),
    **dict.fromkeys(("coalesce", "greatest", "least"), _several),
    **dict.fromkeys(("cast", "trycast"), _cast),
    **dict.fromkeys(("dpipe", "concat"), _joined),
    **dict.fromkeys(("parameter", "placeholder", "lambda", "star", "columns", "dot", "identifier"), _unknown),
    "anonymous": _call,
    "array": _list,
    "bracket": _bracket,
    "dateadd": _date_add,
    "decodecase": _decode,
    "interval": _interval,
    "tsordsadd": _moved,
    "case": _case,
    "column": _column,
    "distinct": _first_item,
    "if": _if,
    "literal": _literal,
    "neg": _neg,
    "null": _null,
    "round": _round,
    "withingroup": _within_group,
}
