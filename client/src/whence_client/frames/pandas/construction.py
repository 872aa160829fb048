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
    is_frame,
    is_series,
    joined_index,
    labels_in,
    labels_of,
    matched_levels,
    pick,
    series_of,
    value_column,
    value_of,
)
from whence_client.frames.pandas.selection import levels_of
from whence_client.lineage.columns import (
    JOIN,
    NOT_CAPTURED,
    Column,
    add_reason,
    transform,
    unknown,
)
from whence_client.lineage.rows import rows_by


def construct(call: Call) -> FrameLineage | None:
    """`DataFrame({...})`, `DataFrame(other)`, `Series(...)`: of the series that it is given."""
    data = call.argument(0, "data")
    if is_series(call.owner):
        column, sources = value_column(data, call.find), [one for one in [call.find(data)] if one]
        return series_of(call.owner.name, column, *sources)
    if not isinstance(data, Mapping):
        source = call.find(data) if is_frame(data) or is_series(data) else None
        return replace(
            adopt_values(data, list(call.owner.columns), call.find), index=_index([source] if source else [], call)
        )
    sources = [one for one in map(call.find, data.values()) if one]
    columns = {label: value_column(value, call.find, join_rows(sources)) for label, value in data.items()}
    rows = join_rows(sources) | rows_by(matched_levels(data.values(), call.find), JOIN)
    return FrameLineage(columns, rows, join_inputs(sources), _index(sources, call))


def _index(sources: list[FrameLineage], call: Call) -> dict[Any, Column]:
    """The levels of a new frame: of its series, or of an index that is given."""
    given = call.argument(1, "index")
    return joined_index(sources) if given is None else levels_of(given, call)


def make_dummies(call: Call) -> FrameLineage | None:
    """`get_dummies`: a column for each value, named after its column or after a prefix of it."""
    data = call.argument(0, "data")
    source = call.find(data)
    if source is None:
        return None
    if is_series(data):
        return replace(source, columns=dict.fromkeys(labels_in(call.result), transform([value_of(source)])))
    encoded = labels_of(call.argument(5, "columns")) or [one for one in source.columns if one not in call.result]
    prefixes = _prefixes(call.argument(1, "prefix"), encoded)
    separator = str(call.argument(2, "prefix_sep") or "_")
    return replace(
        source, columns={label: _dummy(label, source, prefixes, separator) for label in labels_in(call.result)}
    )


def _prefixes(given: Any, encoded: list[Any]) -> dict[str, list[Any]]:
    """The columns that each prefix stands for."""
    found: dict[str, list[Any]] = {}
    for position, label in enumerate(encoded):
        if isinstance(given, Mapping):
            prefix = given.get(label, label)
        elif isinstance(given, (list, tuple)):
            prefix = given[position]
        else:
            prefix = label if given is None else given
        found.setdefault(str(prefix), []).append(label)
    return found


def _dummy(label: Any, source: FrameLineage, prefixes: dict[str, list[Any]], separator: str) -> Column:
    if label in source.columns:
        return source.columns[label]
    fitting = [one for one in prefixes if str(label).startswith(f"{one}{separator}")]
    if not fitting:
        return unknown(NOT_CAPTURED)
    return transform(pick(source, one) for one in prefixes[max(fitting, key=len)])


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
