"""Rules of functions that make a frame or a series of other values: constructors, dummies, conversions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows
from whence_client.frames.handover import adopt_values
from whence_client.frames.pandas.calls import (
    Call,
    Rule,
    is_series,
    labels_in,
    series_of,
    value_column,
    value_of,
)
from whence_client.lineage.columns import (
    NOT_CAPTURED,
    Column,
    add_reason,
    transform,
    unknown,
)


def construct(call: Call) -> FrameLineage | None:
    """`DataFrame({...})`, `DataFrame(other)`, `Series(...)`: of the series that it is given."""
    data = call.argument(0, "data")
    if is_series(call.owner):
        column, sources = value_column(data, call.find), [one for one in [call.find(data)] if one]
        return series_of(call.owner.name, column, *sources)
    if not isinstance(data, Mapping):
        return adopt_values(data, list(call.owner.columns), call.find)
    sources = [one for one in map(call.find, data.values()) if one]
    columns = {label: value_column(value, call.find, join_rows(sources)) for label, value in data.items()}
    return FrameLineage(columns, join_rows(sources), join_inputs(sources))


def make_dummies(call: Call) -> FrameLineage | None:
    """`get_dummies`: a column for each value, named after its column."""
    data = call.argument(0, "data")
    source = call.find(data)
    if source is None:
        return None
    return replace(source, columns={label: _dummy(label, source, data) for label in labels_in(call.result)})


def _dummy(label: Any, source: FrameLineage, data: Any) -> Column:
    if is_series(data):
        return transform([value_of(source)])
    if label in source.columns:
        return source.columns[label]
    origins = [one for one in source.columns if str(label).startswith(f"{one}_")]
    return transform([source.columns[max(origins, key=len)]]) if len(origins) == 1 else unknown(NOT_CAPTURED)


def convert(call: Call) -> FrameLineage | None:
    """`to_datetime`, `to_numeric`, `cut`, `qcut`: a value computed of each value."""
    data = call.args[0] if call.args else next(iter(call.named.values()), None)
    source = call.find(data)
    if source is None or not is_series(call.result):
        return None
    column = transform([value_of(source)])
    hidden = call.method in ("cut", "qcut") and call.find(call.argument(1, "bins")) is not None
    return replace(source, columns={call.result.name: add_reason(column, NOT_CAPTURED) if hidden else column})


OF_MODULE: dict[str, Rule] = {
    "get_dummies": make_dummies,
    "to_datetime": convert,
    "to_numeric": convert,
    "to_timedelta": convert,
    "cut": convert,
    "qcut": convert,
}
