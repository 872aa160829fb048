"""Rules of groups, moving windows, pivots and counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows
from whence_client.frames.pandas.calls import (
    Call,
    Rule,
    is_frame,
    is_series,
    labels_in,
    labels_of,
    matched_levels,
    pick,
    series_of,
    value_of,
)
from whence_client.lineage.columns import (
    AGGREGATION,
    CONDITIONAL,
    EMPTY,
    FILTER,
    GROUP_BY,
    NOT_CAPTURED,
    OPAQUE_FUNCTION,
    WINDOW,
    Column,
    add_reason,
    decide,
    transform,
    unknown,
)
from whence_client.lineage.rows import Rows, rows_by

AGGREGATES = (
    *("sum", "mean", "median", "min", "max", "count", "nunique", "first", "last", "std", "var", "sem", "prod", "any"),
    *("all", "skew", "quantile", "idxmin", "idxmax", "agg", "aggregate", "size", "kurt", "unique"),
)
"""Calls that give one value for a group."""
TRANSFORMS = (
    "transform",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "rank",
    "shift",
    "diff",
    "ffill",
    "bfill",
    "pct_change",
    "fillna",
)
"""Calls that give a value for each row of a group."""
NUMBERS = ("cumcount", "ngroup")
_COUNTS = frozenset(("count", "nunique", "size", "idxmin", "idxmax"))


def group(call: Call) -> FrameLineage:
    """`groupby`: the lineage of the group, with its keys as levels of an index."""
    by, level = call.argument(0, "by"), call.named.get("level")
    keys: dict[Any, Column] = {}
    for number, one in enumerate(labels_of(by) if by is not None else labels_of(level)):
        key = list(call.source.index)[one] if by is None and one in range(len(call.source.index)) else one
        keys[_key_name(key, number)] = _key(key, call)
    rest = {
        label: column for label, column in call.source.columns.items() if label not in keys or is_series(call.owner)
    }
    return replace(call.source, columns=rest, index=keys)


def _key_name(key: Any, number: int) -> Any:
    named = getattr(key, "key", None) or getattr(key, "name", None)
    if named is not None:
        return named
    return key if isinstance(key, (str, int, tuple)) else f"level_{number}"


def _key(key: Any, call: Call) -> Column:
    found = call.find(key)
    if found is not None:
        return decide(value_of(found), matched_levels((call.owner, key), call.find), CONDITIONAL)
    label = getattr(key, "key", None) or key
    return pick(call.source, label) if isinstance(label, (str, int, tuple)) else unknown(NOT_CAPTURED)


def select(call: Call) -> FrameLineage:
    """`groups[column]`, `groups[[columns]]`; also of moving windows."""
    return replace(call.source, columns={label: pick(call.source, label) for label in labels_of(call.args[0])})


def aggregate(call: Call) -> FrameLineage | None:
    """One row for each group."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    source = call.source
    named = (
        {label: one for label, one in call.named.items() if isinstance(one, tuple)}
        if call.method in ("agg", "aggregate")
        else {}
    )
    columns: dict[Any, Column] = {}
    for label in labels_in(call.result):
        columns[label] = (
            source.index[label] if label in source.index and is_frame(call.result) else _aggregated(label, named, call)
        )
    rows = source.rows | rows_by(source.index.values(), GROUP_BY)
    return FrameLineage(columns, rows, source.inputs, source.index)


def _aggregated(label: Any, named: dict[Any, Any], call: Call) -> Column:
    columns = call.source.columns
    if call.method == "size":
        return EMPTY
    function = call.argument(0, "func")
    if label in named:
        origin, function = named[label][0], named[label][1]
    else:
        origin = label[0] if isinstance(label, tuple) and label[0] in columns else label
        function = function.get(origin) if isinstance(function, dict) else call.named.get(label, function)
    column = columns.get(origin)
    if column is None and len(columns) == 1:
        column = value_of(call.source)
    if column is None:
        return unknown(NOT_CAPTURED)
    name = (
        function
        if isinstance(function, str)
        else label[1]
        if isinstance(label, tuple) and len(label) > 1
        else call.method
    )
    made = transform([column], AGGREGATION, masking=name in _COUNTS)
    return add_reason(made, OPAQUE_FUNCTION) if _is_opaque(function, label) else made


def _is_opaque(function: Any, label: Any) -> bool:
    """Whether a function of the job makes a column; of several the one that has the column's name."""
    if isinstance(function, (list, tuple)):
        name = label[-1] if isinstance(label, tuple) else label
        return name not in function and any(map(callable, function))
    return callable(function)


def transform_groups(call: Call) -> FrameLineage | None:
    """A value for each row, computed within its group."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    keys, function = list(call.source.index.values()), call.argument(0, "func")
    columns = {}
    for label in labels_in(call.result):
        own = EMPTY if call.method in NUMBERS else call.source.columns.get(label) or value_of(call.source)
        made = decide(transform([own], AGGREGATION if call.method == "transform" else "TRANSFORMATION"), keys, WINDOW)
        columns[label] = add_reason(made, OPAQUE_FUNCTION) if callable(function) else made
    return FrameLineage(columns, call.source.rows, call.source.inputs, _index_of_rows(call))


def _index_of_rows(call: Call) -> dict[Any, Column]:
    """The levels of the index of what groups were made of. A part of a frame is not remembered."""
    grouped = getattr(call.owner, "obj", None)
    found = call.find(grouped)
    if found is not None:
        return dict(found.index)
    return {...: unknown(NOT_CAPTURED)} if grouped is not None and any(grouped.index.names) else {}


def pick_rows(call: Call) -> FrameLineage | None:
    """`head`, `tail`, `sample` of each group: rows by their place in it."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    known = {**call.source.index, **call.source.columns}
    columns = {label: known.get(label) or value_of(call.source) for label in labels_in(call.result)}
    rows = call.source.rows | rows_by(call.source.index.values(), GROUP_BY)
    return FrameLineage(columns, rows, call.source.inputs, _index_of_rows(call))


def hide(call: Call) -> FrameLineage | None:
    """`apply`, `filter`, `pipe` of groups: a function that may use everything."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    known = {**call.source.index, **call.source.columns}
    everything = add_reason(transform(known.values()), OPAQUE_FUNCTION)
    if call.method == "filter":
        columns = {label: known.get(label) or everything for label in labels_in(call.result)}
        rows = call.source.rows | rows_by([everything], FILTER)
        return FrameLineage(columns, rows, call.source.inputs, _index_of_rows(call))
    rows = call.source.rows | rows_by(call.source.index.values(), GROUP_BY)
    return FrameLineage(dict.fromkeys(labels_in(call.result), everything), rows, call.source.inputs, call.source.index)


def move(call: Call) -> FrameLineage:
    """`rolling`, `expanding`, `ewm`: a window that moves over the rows, in their order or in that of `on`."""
    on = call.named.get("on")
    return call.source.with_rows(rows_by([pick(call.source, on)], WINDOW)) if on is not None else call.source


def resample(call: Call) -> FrameLineage:
    """`resample`: groups by time, of the index or of a column."""
    on = call.named.get("on")
    keys = {on: pick(call.source, on)} if on is not None else dict(call.source.index)
    return replace(
        call.source, columns={one: column for one, column in call.source.columns.items() if one != on}, index=keys
    )


def compute_window(call: Call) -> FrameLineage | None:
    """An aggregate of a moving window."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    function = call.argument(0, "func") if call.method in ("apply", "agg", "aggregate") else None
    columns = {}
    for label in labels_in(call.result):
        made = decide(
            transform([call.source.columns.get(label) or value_of(call.source)], AGGREGATION),
            call.source.index.values(),
            WINDOW,
        )
        columns[label] = add_reason(made, OPAQUE_FUNCTION) if _is_opaque(function, label) else made
    return FrameLineage(columns, call.source.rows, call.source.inputs)


def reduce(call: Call) -> FrameLineage | None:
    """A reduction over a frame: a series with a value of each column, or of each row."""
    if not is_series(call.result) or is_series(call.owner):
        return None
    made = transform(call.source.columns.values(), AGGREGATION)
    is_opaque = call.method in ("agg", "aggregate") and _is_opaque(call.argument(0, "func"), call.result.name)
    return series_of(call.result.name, add_reason(made, OPAQUE_FUNCTION) if is_opaque else made, call.source)


def count_values(call: Call) -> FrameLineage | None:
    """`value_counts`: how often, by the values."""
    chosen = [] if is_series(call.owner) else labels_of(call.argument(0, "subset"))
    keys = {label: pick(call.source, label) for label in chosen or call.source.columns}
    if not is_series(call.result):
        return None
    rows = call.source.rows | rows_by(keys.values(), GROUP_BY)
    return FrameLineage({call.result.name: EMPTY}, rows, call.source.inputs, keys)


def pivot(call: Call) -> FrameLineage | None:
    """`pivot`, `pivot_table`: values of a column, spread over columns by another, which decides them."""
    frame = call.owner if is_frame(call.owner) else call.argument(0, "data")
    source = call.find(frame)
    if source is None or not is_frame(call.result):
        return None
    index, across = labels_of(call.named.get("index")), labels_of(call.named.get("columns"))
    values = labels_of(call.named.get("values")) or [
        one for one in source.columns if one not in index and one not in across
    ]
    deciding, keys = [pick(source, one) for one in across], {one: pick(source, one) for one in index}
    function = call.named.get("aggfunc", "mean")
    columns = {}
    for label in labels_in(call.result):
        origin = [one for one in values if label == one or (isinstance(label, tuple) and one in label)] or values
        made = decide(transform([pick(source, one) for one in origin], AGGREGATION), deciding, FILTER)
        columns[label] = add_reason(made, OPAQUE_FUNCTION) if callable(function) else made
    rows = source.rows | rows_by([*keys.values(), *deciding], GROUP_BY)
    if call.method == "pivot_table":
        rows |= _rows_with_cells([pick(source, one) for one in values], call)
    return FrameLineage(columns, rows, source.inputs, keys)


def _rows_with_cells(values: Iterable[Column], call: Call) -> Rows:
    """A row whose cells are all missing is left out: the values decide on the rows."""
    return rows_by(values, FILTER) if call.named.get("dropna", True) else Rows()


def count_pairs(call: Call) -> FrameLineage | None:
    """`crosstab`: how often values occur together, or an aggregate of `values` for each pair."""
    named = dict(zip(("index", "columns", "values"), call.args), **call.named)
    sides = {name: _series_given(named.get(name), call) for name in ("index", "columns", "values")}
    known = [one for each in sides.values() for one in each.values() if one is not None]
    if not known:
        return None
    keys, across, values = (
        {label: value_of(one) if one else unknown(NOT_CAPTURED) for label, one in each.items()}
        for each in sides.values()
    )
    cell = decide(transform(values.values(), AGGREGATION), across.values(), FILTER)
    rows = join_rows(known) | rows_by([*keys.values(), *across.values()], GROUP_BY)
    rows |= _rows_with_cells(values.values(), call)
    return FrameLineage(dict.fromkeys(labels_in(call.result), cell), rows, join_inputs(known), keys)


def _series_given(given: Any, call: Call) -> dict[Any, FrameLineage | None]:
    several = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    return {getattr(one, "name", None) or f"row_{at}": call.find(one) for at, one in enumerate(several)}


def group_classes() -> tuple[Any, ...]:
    """The classes of groups."""
    from pandas.core.groupby import DataFrameGroupBy, SeriesGroupBy
    from pandas.core.resample import Resampler

    return DataFrameGroupBy, SeriesGroupBy, Resampler


def window_classes() -> tuple[Any, ...]:
    """The classes of moving windows."""
    from pandas.core.window import ewm, expanding, rolling

    return rolling.Rolling, expanding.Expanding, ewm.ExponentialMovingWindow


BOTH: dict[str, Rule] = {
    "groupby": group,
    "rolling": move,
    "expanding": move,
    "ewm": move,
    "resample": resample,
    "value_counts": count_values,
}
OF_FRAMES: dict[str, Rule] = {
    "pivot_table": pivot,
    "pivot": pivot,
    **dict.fromkeys(
        ("sum", "mean", "min", "max", "count", "median", "std", "any", "all", "nunique", "prod", "agg", "aggregate"),
        reduce,
    ),
}
OF_MODULE: dict[str, Rule] = {"pivot_table": pivot, "pivot": pivot, "crosstab": count_pairs}
OF_GROUPS: dict[str, Rule] = {
    "__getitem__": select,
    **dict.fromkeys(AGGREGATES, aggregate),
    **dict.fromkeys((*TRANSFORMS, *NUMBERS), transform_groups),
    **dict.fromkeys(("head", "tail", "sample"), pick_rows),
    **dict.fromkeys(("apply", "filter"), hide),
}
OF_WINDOWS: dict[str, Rule] = {
    "__getitem__": select,
    **dict.fromkeys(
        (
            "sum",
            "mean",
            "median",
            "min",
            "max",
            "count",
            "std",
            "var",
            "skew",
            "quantile",
            "rank",
            "apply",
            "agg",
            "aggregate",
            "sem",
            "corr",
        ),
        compute_window,
    ),
}
