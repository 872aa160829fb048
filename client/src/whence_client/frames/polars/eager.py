"""The lineage of what polars computes at once, without a plan: frames put together, changed in place, and series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Callable

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows, unknown_frame
from whence_client.lineage.columns import (
    AGGREGATION,
    EMPTY,
    FILTER,
    GROUP_BY,
    LEFT_THE_ENGINE,
    OPAQUE_FUNCTION,
    Column,
    add_reason,
    decide,
    merge,
    transform,
    unknown,
)
from whence_client.lineage.rows import Rows, rows_by

Find = Callable[[Any], FrameLineage]
"""The lineage of a frame or series; of one that nobody knows, columns without sources."""
Named = dict[str, Any]
Rule = Callable[[Any, tuple[Any, ...], Named, FrameLineage, Find], FrameLineage]
"""Gives a lineage from the result of a call, its arguments, the frame's lineage before, and that of other frames."""


def stack_rows(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`vstack`, `extend`: rows below each other, by the places of the columns."""
    other = find(_given(args, named, 0, "other"))
    below = list(other.columns.values())
    pairs = zip(before.columns.items(), below) if len(below) == len(before.columns) else ()
    return _joined({name: merge((one, two)) for (name, one), two in pairs}, before, other)


def stack_columns(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`hstack`: columns of a frame or of series, put beside those that are there."""
    given = _given(args, named, 0, "columns")
    others = [find(one) for one in ([given] if hasattr(given, "columns") else given)]
    columns = dict(before.columns)
    for one in others:
        columns.update(one.columns)
    return _joined(columns, before, *others)


def stack(frames: Sequence[FrameLineage], how: str) -> FrameLineage:
    """`polars.concat` of frames or series: below each other by the names of the columns, or beside each other."""
    columns: dict[Any, list[Column]] = {}
    for one in frames:
        for name, column in one.columns.items():
            columns.setdefault(name, []).append(column)
    joined = {name: several[-1] if how == "horizontal" else merge(several) for name, several in columns.items()}
    return FrameLineage(joined, join_rows(frames), join_inputs(frames))


def insert_column(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`insert_column`, `replace_column`: a series, known by its name; an expression is not read."""
    series = _given(args, named, 1, "column")
    name = getattr(series, "name", None)
    other = find(series) if isinstance(name, str) else unknown_frame((), LEFT_THE_ENGINE)
    return _joined({**before.columns, **other.columns}, before, other)


def remove_column(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`drop_in_place`, or a name that is set: the columns that are left are looked up by their names."""
    return before


def split_rows(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`partition_by`: the same columns; which rows a part has is decided by columns."""
    chosen = _names([*args, named.get("by", ())], before)
    return before.with_rows(rows_by((before.columns[one] for one in chosen), FILTER))


def make_dummies(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`to_dummies`: a column for each value of a column, named after it."""
    chosen = _names([_given(args, named, 0, "columns") or ()], before) or list(before.columns)
    separator = str(named.get("separator", "_"))
    columns = {}
    for name in result.columns:
        origins = [one for one in chosen if name.startswith(f"{one}{separator}")]
        columns[name] = transform([before.columns[max(origins, key=len)]]) if origins else before.columns.get(name)
    return _joined({name: one for name, one in columns.items() if one is not None}, before)


def pivot(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`pivot`: values of a column, spread over columns by others, which decide them."""
    across = _names([_given(args, named, 0, "on")], before)
    index, values = (_names([named.get(name) or ()], before) for name in ("index", "values"))
    rest = [one for one in before.columns if one not in across]
    index = index or [one for one in rest if values and one not in values]
    values = values or [one for one in rest if one not in index]
    deciding = [before.columns[one] for one in across]
    columns = {}
    for name in result.columns:
        origins = [one for one in values if name.startswith(one)] if len(values) > 1 else values
        made = transform((before.columns[one] for one in origins or values), AGGREGATION)
        columns[name] = before.columns[name] if name in index else decide(made, deciding, FILTER)
    keys = rows_by((before.columns[one] for one in (*index, *across)), GROUP_BY)
    return FrameLineage(columns, before.rows | keys, before.inputs)


def transpose(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """`transpose`: each row becomes a column, which has a value of every column."""
    header = named.get("header_name", "column") if named.get("include_header") else None
    everything = merge(before.columns.values())
    return _joined({name: EMPTY if name == header else everything for name in result.columns}, before)


def compute(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """An operator of a series and another value, also of another series."""
    others = [find(one) for one in args if hasattr(one, "to_frame")]
    column = transform(one for each in (before, *others) for one in each.columns.values())
    return _joined({result.name: column}, before, *others)


def rename(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """A series under another name."""
    return _joined({result.name: merge(before.columns.values())}, before)


def hide(result: Any, args: tuple[Any, ...], named: Named, before: FrameLineage, find: Find) -> FrameLineage:
    """A Python function of rows, groups or values: every column may come from every other."""
    everything = add_reason(transform(before.columns.values()), OPAQUE_FUNCTION)
    names = result.columns if hasattr(result, "columns") else [result.name]
    return FrameLineage(
        dict.fromkeys(names, everything), before.rows | Rows(reasons=frozenset((OPAQUE_FUNCTION,))), before.inputs
    )


OF_FRAMES: dict[str, Rule] = {
    "vstack": stack_rows,
    "hstack": stack_columns,
    "partition_by": split_rows,
    "to_dummies": make_dummies,
    "pivot": pivot,
    "transpose": transpose,
    "map_rows": hide,
}
"""Calls that make frames."""
CHANGES: dict[str, Rule] = {
    "extend": stack_rows,
    "insert_column": insert_column,
    "replace_column": insert_column,
    "drop_in_place": remove_column,
}
"""Calls that change the frame itself."""
OF_SERIES: dict[str, Rule] = {
    **dict.fromkeys(("_arithmetic", "_comp", "__and__", "__or__", "__xor__", "__invert__", "__neg__"), compute),
    **dict.fromkeys(("alias", "rename", "clone", "head", "tail", "slice", "cast"), rename),
    "map_elements": hide,
}
"""Calls that make series; most other ones have a plan."""


def _given(args: tuple[Any, ...], named: Named, position: int, name: str) -> Any:
    return named[name] if name in named else args[position] if len(args) > position else None


def _names(given: Iterable[Any], before: FrameLineage) -> list[str]:
    """The columns that are meant by names, or lists of them; by anything else, a selector, all."""
    names: list[str] = []
    for one in given:
        if isinstance(one, (list, tuple)):
            names += _names(one, before)
        elif isinstance(one, str):
            names.append(one)
        elif one is not None:
            names += before.columns
    return [one for one in dict.fromkeys(names) if one in before.columns]


def _joined(columns: dict[str, Column], before: FrameLineage, *others: FrameLineage) -> FrameLineage:
    sources = (before, *others)
    return FrameLineage(columns, join_rows(sources), join_inputs(sources))


def complete(lineage: FrameLineage, names: Iterable[str]) -> FrameLineage:
    """The lineage with these columns alone; those that no rule made have no known source."""
    return replace(lineage, columns={one: lineage.columns.get(one) or unknown(LEFT_THE_ENGINE) for one in names})
