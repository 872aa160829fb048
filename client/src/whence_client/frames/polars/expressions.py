"""The sources of an expression of a polars plan, by the classes of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Callable

from whence_client.lineage.columns import (
    AGGREGATION,
    CONDITIONAL,
    EMPTY,
    FILTER,
    GROUP_BY,
    LEFT_THE_ENGINE,
    NOT_CAPTURED,
    OPAQUE_FUNCTION,
    SORT,
    TRANSFORMATION,
    WINDOW,
    Column,
    add_reason,
    decide,
    get_field,
    influence,
    merge,
    transform,
    unknown,
)

_COUNTS = frozenset(("count", "n_unique", "null_count", "arg_min", "arg_max"))
"""Aggregations whose result does not have a value of the column in it."""

_AGGREGATING = re.compile(r"(rolling|cum|^corr$|^any$|^all$|entropy|value_counts|^mode$|approx_n_unique)")

_ORDER_KEYS = re.compile(r"\.(?:min|max|rolling_\w+)_by(?:\[[^\]]*\])?\((\[.*?\])\)")

_LIST_BEGINNINGS = re.compile(r"(?:^|[\s:])\[")

_COLUMN = re.compile(r'col\("((?:[^"\\]|\\.)*)"\)')


@dataclass(frozen=True)
class Scope:
    """What an expression may refer to. `text` is the plan in words: it names the arguments that a Python call hides."""

    columns: Mapping[str, Column]
    nodes: Any
    text: Callable[[], str]
    find_series: Callable[[Any], Column | None] = lambda series: None
    find_list: Callable[[list[Any]], Column | None] = lambda values: None

    def column(self, name: str) -> Column:
        """A column by name."""
        return self.columns.get(name) or unknown(NOT_CAPTURED)


def read_named(expression: Any, scope: Scope) -> Column:
    """The sources of an expression that has a name in the output."""
    try:
        return read_expression(expression.node, scope)
    except NotImplementedError as error:
        return _read_hidden(str(error), str(expression.output_name), scope)


def read_expression(number: int, scope: Scope) -> Column:
    """The sources of an expression. Raises NotImplementedError if polars does not show a part of it."""
    node = scope.nodes.view_expression(number)
    rule = _RULES.get(type(node).__name__)
    if rule is None:
        return add_reason(transform(_read_all(_children(node), scope)), NOT_CAPTURED)
    return rule(node, scope)


def _read_all(numbers: Iterable[int], scope: Scope) -> list[Column]:
    return [read_expression(number, scope) for number in numbers]


def _children(node: Any) -> Iterator[int]:
    """Expressions below a node of a class without a rule."""
    for name in ("expr", "input", "function", "left", "right", "by", "arguments", "partition_by"):
        yield from _numbers(getattr(node, name, None))


def _numbers(value: Any) -> tuple[int, ...]:
    """One expression or several, as a node has them."""
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, int):
        return (value,)
    return tuple(one for one in value if isinstance(one, int)) if isinstance(value, (list, tuple)) else ()


def _read_hidden(message: str, name: str, scope: Scope) -> Column:
    """An expression with a part that polars does not show: its arguments stand in the plan's text.

    Without them every column may be an argument.
    """
    known = scope.columns
    values, keys = ([one for one in names if one in known] for names in roots_in(scope.text(), name))
    if "struct" in message:  # polars before 2 does not show which field has what
        return add_reason(transform(known[one] for one in (values or known)), NOT_CAPTURED)
    hidden = not values or "anonymous" in message or "python" in message
    kind, made = (WINDOW, AGGREGATION) if message.startswith("rolling") else (SORT, TRANSFORMATION)
    column = decide(transform((known[one] for one in (values or known)), made), (known[one] for one in keys), kind)
    return add_reason(column, OPAQUE_FUNCTION) if hidden else column


def roots_in(text: str, name: str) -> tuple[list[str], list[str]]:
    """The columns in the expressions of a plan's text that define the output `name`: values, and keys of their order.

    >>> roots_in('WITH_COLUMNS: [(col("b").python_udf() + 1).alias("m"), col("a").alias("k")]', "m")
    (['b'], [])
    >>> roots_in('AGGREGATE[] [col("s").min_by[total]([col("b")]).alias("first")] BY [col("a")]', "first")
    (['s'], ['b'])
    """
    found = [one for one in _expressions(text) if _output_of(one) == name]
    keys = [root for one in found for key in _ORDER_KEYS.findall(one) for root in _COLUMN.findall(key)]
    values = [root for one in found for root in _COLUMN.findall(_ORDER_KEYS.sub("", one))]
    return _unescape_all(values), _unescape_all(keys)


def _unescape_all(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(_unescape(name) for name in names))


def selected_by(text: str, path: str) -> list[str]:
    """The columns in the condition of the scan of a file, in the text of an optimised plan.

    >>> selected_by('Parquet SCAN [/h/day=1/0.parquet]\\nSELECTION: col("day") == 1', "/h/day=1/0.parquet")
    ['day']
    """
    columns: list[str] = []
    for scan in text.split(" SCAN [")[1:]:
        conditions = (line.partition("SELECTION:")[2] for line in scan.splitlines())
        if re.match(re.escape(path) + r"[,\]]", scan):
            columns += [root for one in conditions for root in _COLUMN.findall(one)]
    return _unescape_all(columns)


def _expressions(text: str) -> Iterator[str]:
    """The items of all bracketed lists of a text that are not within another item."""
    for line in text.splitlines():
        for start in _LIST_BEGINNINGS.finditer(line):
            yield from _items(line[start.end() :])


def _items(text: str) -> Iterator[str]:
    depth, quoted, begin, at = 0, False, 0, 0
    while at < len(text):
        char = text[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                break
        elif char == "," and not depth:
            yield text[begin:at].strip()
            begin = at + 1
        at += 1
    yield text[begin:at].strip()


def _output_of(item: str) -> str:
    alias = re.search(r'\.alias\("((?:[^"\\]|\\.)*)"\)$', item)
    if alias:
        return _unescape(alias.group(1))
    first = _COLUMN.search(item)
    return _unescape(first.group(1)) if first else ""


def _unescape(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _column(node: Any, scope: Scope) -> Column:
    return scope.column(node.name)


def _alias(node: Any, scope: Scope) -> Column:
    return read_expression(node.expr, scope)


def _literal(node: Any, scope: Scope) -> Column:
    if isinstance(node.value, list):
        return scope.find_list(node.value) or EMPTY
    if type(node.value).__name__ != "PySeries":
        return EMPTY
    return scope.find_series(node.value) or unknown(LEFT_THE_ENGINE)


def _binary(node: Any, scope: Scope) -> Column:
    return transform(_read_all((node.left, node.right), scope))


def _cast(node: Any, scope: Scope) -> Column:
    return transform((read_expression(node.expr, scope),))


def _ternary(node: Any, scope: Scope) -> Column:
    branches = transform(_read_all((node.truthy, node.falsy), scope))
    return decide(branches, (read_expression(node.predicate, scope),), CONDITIONAL)


def _aggregate(node: Any, scope: Scope) -> Column:
    return transform(_read_all(_numbers(node.arguments), scope), AGGREGATION, masking=node.name in _COUNTS)


def _function(node: Any, scope: Scope) -> Column:
    data = node.function_data
    name = str(data[0])
    inputs = _numbers(node.input)
    if name == "as_struct":
        return _struct(inputs, scope)
    columns = _read_all(inputs, scope)
    if name.endswith("value_counts") and columns:
        return _count_values(_name_of(inputs[0], scope), columns[0], str(data[3]))
    if name.endswith("RenameFields") and columns:
        return _rename_fields(columns[0], data[1])
    if "RollingFunctionBy" in name and columns:
        return decide(transform(columns[:1], AGGREGATION), columns[1:], WINDOW)
    if name.endswith("FieldByName") and columns:
        return get_field(columns[0], str(data[1]))
    return transform(columns, AGGREGATION if _AGGREGATING.search(name.rsplit(".", 1)[-1].lower()) else TRANSFORMATION)


def _struct(inputs: tuple[int, ...], scope: Scope) -> Column:
    fields = {_name_of(number, scope): read_expression(number, scope) for number in inputs}
    whole = merge(fields.values())
    return Column(whole.direct, whole.indirect, whole.reasons, fields)


def _count_values(name: str, column: Column, count: str) -> Column:
    """A struct of a value and how often it occurs."""
    return Column(
        column.direct,
        column.indirect,
        column.reasons,
        {name: column, count: Column(indirect=influence((column,), GROUP_BY), reasons=column.reasons)},
    )


def _rename_fields(struct: Column, names: Iterable[str]) -> Column:
    if isinstance(names, str):  # the first one is all that polars before 1.44 shows
        return add_reason(replace(struct, fields={}), NOT_CAPTURED)
    return replace(struct, fields=dict(zip(names, struct.fields.values())))


def _with_fields(node: Any, scope: Scope) -> Column:
    """A struct with some of its fields computed anew, each maybe of its other fields."""
    struct = read_expression(node.expr, scope)
    if not struct.fields or str(node.variant) != "with_fields":
        return add_reason(struct, NOT_CAPTURED)
    inside = replace(scope, columns={**scope.columns, **struct.fields})
    made = {str(one.output_name): _read_field(one.node, inside, struct) for one in node.evaluation}
    fields = {**struct.fields, **made}
    whole = merge(fields.values())
    return Column(whole.direct, whole.indirect, whole.reasons, fields)


def _read_field(number: int, scope: Scope, struct: Column) -> Column:
    try:
        return read_expression(number, scope)
    except NotImplementedError:  # `pl.field` is not shown
        return add_reason(transform(struct.fields.values()), NOT_CAPTURED)


def _name_of(number: int, scope: Scope) -> str:
    """The name that an expression gives its output: of its alias, else of its leftmost column."""
    node = scope.nodes.view_expression(number)
    while not hasattr(node, "name") or type(node).__name__ == "Agg":
        below = next(iter(_children(node)), None)
        if below is None:
            return "literal"
        node = scope.nodes.view_expression(below)
    return str(node.name)


def _filter(node: Any, scope: Scope) -> Column:
    return decide(read_expression(node.input, scope), (read_expression(node.by, scope),), FILTER)


def _sort_by(node: Any, scope: Scope) -> Column:
    return decide(read_expression(node.expr, scope), _read_all(_numbers(node.by), scope), SORT)


def _gather(node: Any, scope: Scope) -> Column:
    return decide(read_expression(node.expr, scope), (read_expression(node.idx, scope),), FILTER)


def _slice(node: Any, scope: Scope) -> Column:
    return decide(read_expression(node.input, scope), _read_all((node.offset, node.length), scope), FILTER)


def _window(node: Any, scope: Scope) -> Column:
    keys = _read_all(_numbers(node.partition_by) + _numbers(node.order_by), scope)
    return decide(read_expression(node.function, scope), keys, WINDOW)


def _rolling(node: Any, scope: Scope) -> Column:
    index = node.index_column
    keys = _read_all(_numbers(index), scope) if not isinstance(index, str) else [scope.column(index)]
    return decide(read_expression(node.function, scope), keys, WINDOW)


_RULES: dict[str, Callable[[Any, Scope], Column]] = {
    "Column": _column,
    "Alias": _alias,
    "Literal": _literal,
    "Len": lambda node, scope: EMPTY,
    "BinaryExpr": _binary,
    "Cast": _cast,
    "Ternary": _ternary,
    "Agg": _aggregate,
    "Function": _function,
    "Filter": _filter,
    "Sort": _alias,
    "SortBy": _sort_by,
    "Gather": _gather,
    "Slice": _slice,
    "Explode": _cast,
    "Window": _window,
    "Rolling": _rolling,
    "StructEval": _with_fields,
}
