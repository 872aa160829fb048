"""The operators of a plan: what each makes of the rows of its inputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.capture.flink.expressions import Columns, column_at, read_expression
from whence.capture.flink.row_types import field_names, time_index
from whence.capture.members import numbers_at, object_at, objects_at, text_at
from whence.openlineage.json.wire import Json
from whence_client.lineage.columns import (
    AGGREGATION,
    CONDITIONAL,
    EMPTY,
    FILTER,
    GROUP_BY,
    JOIN,
    NOT_CAPTURED,
    SORT,
    WINDOW,
    Column,
    Edges,
    decide,
    influence,
    merge,
    transform,
    unknown,
)

_NONE: Edges = frozenset()


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns in their order, and what decides which rows there are.

    `keys` and `time` are set between the two halves of an aggregation: its grouping columns, and the time of windows.
    """

    columns: tuple[Column, ...]
    influences: Edges = _NONE
    keys: tuple[Column, ...] | None = None
    time: Column | None = None


Inputs = Sequence[Rows]


def apply_operator(kind: str, node: Json, inputs: Inputs) -> Rows:
    """The rows of an operator. One that is not known gives columns whose sources are not captured."""
    if not inputs:
        return Rows(tuple(EMPTY for _ in field_names(node))) if kind == "values" else _unread(node, inputs)
    if kind in _PASSING:
        return inputs[0]
    apply = _OPERATORS.get(kind)
    found = apply(node, inputs) if apply else _unread(node, inputs)
    influences = _NONE.union(found.influences, *(one.influences for one in inputs))
    return replace(found, influences=influences)


def _unread(node: Json, inputs: Inputs) -> Rows:
    return Rows(tuple(unknown(NOT_CAPTURED) for _ in field_names(node)))


def _calc(node: Json, inputs: Inputs) -> Rows:
    (rows, *_) = inputs
    columns = tuple(read_expression(one, rows.columns) for one in objects_at(node, "projection"))
    condition = object_at(node, "condition")
    return Rows(columns, influence([read_expression(condition, rows.columns)], FILTER) if condition else _NONE)


def _union(node: Json, inputs: Inputs) -> Rows:
    return Rows(tuple(merge(columns) for columns in zip(*(one.columns for one in inputs), strict=False)))


def _join(node: Json, inputs: Inputs) -> Rows:
    if len(inputs) != 2:
        return _unread(node, inputs)
    left, right = (one.columns for one in inputs)
    spec = object_at(node, "joinSpec") or object_at(node, "intervalJoinSpec", "joinSpec")
    keys = [column_at(left, one) for one in numbers_at(spec, "leftKeys")]
    keys += [column_at(right, one) for one in numbers_at(spec, "rightKeys")]
    keys += _times(object_at(node, "intervalJoinSpec", "windowBounds"), left, right)
    if condition := object_at(spec, "nonEquiCondition"):
        keys.append(read_expression(condition, (*left, *right)))
    is_filter = text_at(spec, "joinType") in ("SEMI", "ANTI")
    return Rows(tuple(left) if is_filter else (*left, *right), influence(keys, JOIN))


def _times(bounds: Json, left: Columns, right: Columns) -> Iterator[Column]:
    """The time columns that an interval join compares."""
    if bounds:
        yield column_at(left, bounds.get("leftTimeIndex"))
        yield column_at(right, bounds.get("rightTimeIndex"))


def _aggregate(node: Json, inputs: Inputs) -> Rows:
    """An aggregation in one step, or the second of two: it has the columns of the first one's input."""
    (rows, *_) = inputs
    keys = rows.keys if rows.keys is not None else _grouping(node, rows)
    results = [_call(one, rows.columns) for one in objects_at(node, "aggCalls")]
    times = [_window_time(node, rows)] if object_at(node, "windowing") else []
    properties = times * len(objects_at(node, "namedWindowProperties"))
    return Rows((*keys, *results, *properties), influence((*keys, *times), GROUP_BY))


def _first_half(node: Json, inputs: Inputs) -> Rows:
    (rows, *_) = inputs
    time = _window_time(node, rows) if object_at(node, "windowing") else None
    return Rows(rows.columns, keys=_grouping(node, rows), time=time)


def _grouping(node: Json, rows: Rows) -> tuple[Column, ...]:
    return tuple(column_at(rows.columns, one) for one in numbers_at(node, "grouping"))


def _call(call: Json, columns: Columns) -> Column:
    arguments = [column_at(columns, one) for one in numbers_at(call, "argList")]
    found = transform(arguments, AGGREGATION)
    condition = call.get("filterArg")
    if isinstance(condition, int) and condition >= 0:
        return decide(found, [column_at(columns, condition)], CONDITIONAL)
    return found


def _window_time(node: Json, rows: Rows) -> Column:
    """The start or end of a window: made of the time that it is about."""
    if rows.time is not None:
        return rows.time
    windowing = object_at(node, "windowing")
    for key in ("timeAttributeIndex", "windowEnd", "windowStart"):
        if isinstance(windowing.get(key), int):
            return transform((column_at(rows.columns, windowing[key]),))
    return unknown(NOT_CAPTURED)


def _window_function(node: Json, inputs: Inputs) -> Rows:
    """`TABLE(TUMBLE(…))`: the columns of the table, then start, end and time of the window."""
    (rows, *_) = inputs
    windowing = object_at(node, "windowingStrategy") or object_at(node, "windowing")
    time = transform((column_at(rows.columns, windowing.get("timeAttributeIndex")),))
    added = max(0, len(field_names(node)) - len(rows.columns))
    return Rows((*rows.columns, *(time for _ in range(added))))


def _over(node: Json, inputs: Inputs) -> Rows:
    (rows, *_) = inputs
    spec = object_at(node, "overSpec")
    partition = [column_at(rows.columns, one) for one in numbers_at(object_at(spec, "partition"), "fields")]
    results = [
        decide(_call(call, (*rows.columns, *(EMPTY for _ in objects_at(spec, "constants")))), deciding, WINDOW)
        for group in objects_at(spec, "groups")
        for deciding in [[*partition, *_order(group, rows)]]
        for call in objects_at(group, "aggCalls")
    ]
    return Rows((*rows.columns, *results))


def _rank(node: Json, inputs: Inputs) -> Rows:
    (rows, *_) = inputs
    partition = [column_at(rows.columns, one) for one in numbers_at(object_at(node, "partition"), "fields")]
    deciding = [*partition, *_order(node, rows)]
    number = [decide(EMPTY, deciding, WINDOW)] if node.get("outputRowNumber") is True else []
    return Rows((*rows.columns, *number), influence(deciding, WINDOW))


def _deduplicate(node: Json, inputs: Inputs) -> Rows:
    (rows, *_) = inputs
    keys = [column_at(rows.columns, one) for one in numbers_at(node, "uniqueKeys")]
    time = time_index(node)
    times = [column_at(rows.columns, time)] if time is not None and node.get("isRowtime") is True else []
    return Rows(rows.columns, influence([*keys, *times], WINDOW))


def _sort(node: Json, inputs: Inputs) -> Rows:
    (rows, *_) = inputs
    return Rows(rows.columns, influence(_order(node, rows), SORT))


def _expand(node: Json, inputs: Inputs) -> Rows:
    """Grouping sets: each row once for each set, with the keys of the others empty."""
    (rows, *_) = inputs
    sets = node.get("projects") if isinstance(node.get("projects"), list) else []
    read = [[read_expression(one, rows.columns) for one in each if isinstance(one, dict)] for each in sets or ()]
    return Rows(tuple(merge(columns) for columns in zip(*read, strict=False)))


def _order(node: Json, rows: Rows) -> list[Column]:
    fields = objects_at(object_at(node, "orderBy") or object_at(node, "sortSpec"), "fields")
    return [column_at(rows.columns, one.get("index")) for one in fields]


_PASSING = frozenset(
    (
        *("changelog-normalize", "drop-update-before", "exchange", "limit", "mini-batch-assigner"),
        *("watermark-assigner",),
    )
)
"""Operators that leave columns and rows as they are, or take any rows away."""
_OPERATORS: Mapping[str, Callable[[Json, Inputs], Rows]] = {
    "calc": _calc,
    "deduplicate": _deduplicate,
    "expand": _expand,
    "global-group-aggregate": _aggregate,
    "global-window-aggregate": _aggregate,
    "group-aggregate": _aggregate,
    "interval-join": _join,
    "join": _join,
    "local-group-aggregate": _first_half,
    "local-window-aggregate": _first_half,
    "over-aggregate": _over,
    "rank": _rank,
    "sort": _sort,
    "sort-limit": _sort,
    "temporal-join": _join,
    "temporal-sort": _sort,
    "union": _union,
    "window-aggregate": _aggregate,
    "window-join": _join,
    "window-table-function": _window_function,
}
