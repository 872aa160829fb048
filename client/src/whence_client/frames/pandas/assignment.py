"""Rules of calls that assign, insert or remove columns of a frame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whence_client.frames.frames import FrameLineage
from whence_client.frames.pandas.calls import (
    Call,
    Rule,
    is_series,
    labels_of,
    matched_levels,
    value_column,
    value_of,
)
from whence_client.frames.pandas.selection import get_item, location_parts, set_axis
from whence_client.lineage.columns import (
    CONDITIONAL,
    EMPTY,
    LEFT_THE_ENGINE,
    add_reason,
    decide,
    merge,
)


def set_item(call: Call) -> FrameLineage:
    """`frame[key] = value`: the frame afterwards."""
    key, value = call.args[0], call.args[1]
    if is_series(call.owner):
        return _assign_values(call, [next(iter(call.source.columns), None)], value, key)
    if call.find(key) is not None:
        return _assign_values(call, list(call.source.columns), value, key)
    labels = labels_of(key) if isinstance(key, list) else [key]
    columns = dict(call.source.columns)
    values = call.find(value)
    is_table = values is not None and getattr(value, "ndim", 1) == 2 and len(values.columns) == len(labels)
    for position, label in enumerate(labels):
        at = position if is_table else None
        columns[label] = value_column(value, call.find, call.source.rows, call.owner, at=at)
    return _with_inputs(replace(call.source, columns=columns), value, call)


def _assign_values(call: Call, labels: list[Any], value: Any, condition: Any) -> FrameLineage:
    """Some rows of columns get other values: by a condition."""
    column, mask = value_column(value, call.find, call.source.rows, call.owner), call.find(condition)
    columns = dict(call.source.columns)
    for label in labels:
        mixed = merge([columns.get(label, EMPTY), column])
        made = decide(mixed, [value_of(mask)] if mask is not None else [], CONDITIONAL)
        columns[label] = add_reason(made, LEFT_THE_ENGINE) if call.is_odd(condition) else made
    return _with_inputs(replace(call.source, columns=columns), value, call)


def _with_inputs(made: FrameLineage, value: Any, call: Call) -> FrameLineage:
    other = call.find(value)
    return replace(made, inputs=made.inputs | other.inputs) if other else made


def set_location(call: Call) -> FrameLineage:
    """`frame.loc[rows, columns] = value`: the frame afterwards."""
    rows, chosen = location_parts(call.args[0])
    if is_series(call.owner):
        return _assign_values(call, [next(iter(call.source.columns), None)], call.args[1], rows)
    labels = labels_of(chosen) if isinstance(chosen, (str, int, list)) else list(call.source.columns)
    if call.method == "iloc":
        known = list(call.source.columns)
        labels = [known[one] for one in labels if isinstance(one, int) and -len(known) <= one < len(known)] or known
    return _assign_values(call, labels, call.args[1], rows)


def assign(call: Call) -> FrameLineage:
    """`assign`. Functions were called with the frame so far; `call.named` has their results."""
    columns, inputs = dict(call.source.columns), call.source.inputs
    for label, value in call.named.items():
        columns[label] = value_column(value, call.find, call.source.rows, call.owner)
        other = call.find(value)
        inputs |= other.inputs if other else frozenset()
    return replace(call.source, columns=columns, inputs=inputs)


def insert(call: Call) -> FrameLineage:
    """`insert(loc, column, value)`: the frame afterwards."""
    label, value = call.argument(1, "column"), call.argument(2, "value")
    columns = {**call.source.columns, label: value_column(value, call.find, call.source.rows, call.owner)}
    return _with_inputs(replace(call.source, columns=columns), value, call)


def remove(call: Call) -> FrameLineage:
    """`pop`, `del`: the frame afterwards."""
    return replace(
        call.source, columns={one: column for one, column in call.source.columns.items() if one != call.args[0]}
    )


def update(call: Call) -> FrameLineage:
    """`update`: values of another frame where they are there, by the labels of its rows."""
    other = call.argument(0, "other")
    found = call.find(other)
    if found is None:
        return replace(
            call.source,
            columns={label: add_reason(one, LEFT_THE_ENGINE) for label, one in call.source.columns.items()},
        )
    columns, levels = {}, matched_levels((call.owner, other), call.find)
    for label, one in call.source.columns.items():
        new = value_of(found) if is_series(other) else found.columns.get(label)
        columns[label] = one if new is None else decide(merge([one, new]), levels, CONDITIONAL)
    rows = call.source.rows | found.rows
    return replace(call.source, columns=columns, rows=rows, inputs=call.source.inputs | found.inputs)


CHANGES: dict[str, Rule] = {
    "update": update,
    "__setitem__": set_item,
    "insert": insert,
    "pop": remove,
    "__delitem__": remove,
    "_set_axis": set_axis,
}
"""Rules that give the lineage of the object itself afterwards."""
TAKEN: dict[str, Rule] = {"pop": get_item}
"""Rules that give the lineage of the result of such a call."""
