"""Rules of calls that keep the columns: they compute values within a column, or choose and order rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows
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
    value_of,
)
from whence_client.frames.pandas.expressions import evaluate, query
from whence_client.lineage.columns import (
    CONDITIONAL,
    FILTER,
    GROUP_BY,
    JOIN,
    LEFT_THE_ENGINE,
    OPAQUE_FUNCTION,
    SORT,
    Column,
    add_reason,
    decide,
    transform,
    unknown,
)
from whence_client.lineage.rows import rows_by

_SAME = ("copy", "head", "tail", "truncate", "squeeze", "infer_objects", "reindex_like")
_COMPUTED = (
    *("astype", "round", "abs", "clip", "fillna", "ffill", "bfill", "interpolate", "replace", "shift", "diff", "rank"),
    *("cumsum", "cumprod", "cummax", "cummin", "pct_change", "convert_dtypes", "isna", "isnull", "notna", "notnull"),
    *("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "radd", "rsub", "rmul", "rdiv", "rtruediv"),
    *("rfloordiv", "rmod", "rpow", "eq", "ne", "lt", "gt", "le", "ge", "combine_first", "between", "autocorr"),
    *("_arith_method", "_cmp_method", "_logical_method", "_inplace_method", "__neg__", "__invert__", "__abs__"),
    *("tz_localize", "tz_convert", "dot", "factorize"),
)
_BY_OTHERS = frozenset(
    ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "gt", "le", "ge")
)
"""Methods whose axis is that of the other operand's labels."""


def keep(call: Call) -> FrameLineage:
    """The same columns."""
    return call.source


def compute(call: Call) -> FrameLineage:
    """Each column computed from itself and from what the arguments have."""
    sources = [call.source, *call.others]
    odd = [one for one in call.given if call.is_odd(one)]
    labels = labels_in(call.result)
    if is_frame(call.owner) and call.named.get("axis") in (1, "columns") and call.method not in _BY_OTHERS:
        whole = transform(call.source.columns.values())  # along a row, from one column to the next
        columns = dict.fromkeys(labels, whole)
    else:
        columns = {label: _computed(call, label, bool(odd)) for label in labels}
    return _matched(columns, sources, call)


def _matched(columns: dict[Any, Column], sources: list[FrameLineage], call: Call) -> FrameLineage:
    """Columns of the owner and of arguments, whose rows meet by the labels of their indexes."""
    levels = matched_levels((call.owner, *call.given), call.find)
    rows = join_rows(sources) | rows_by(levels, JOIN)
    return FrameLineage(columns, rows, join_inputs(sources), joined_index(sources) if levels else call.source.index)


def _computed(call: Call, label: Any, is_odd: bool) -> Column:
    own = value_of(call.source) if is_series(call.owner) else call.source.columns.get(label)
    others = (
        other.columns[label] if label in other.columns and len(other.columns) > 1 else value_of(other)
        for other in call.others
    )
    column = transform([*([own] if own else []), *others])
    return add_reason(column, LEFT_THE_ENGINE) if is_odd else column


def choose(call: Call) -> FrameLineage:
    """`where` and `mask`: the first argument decides between the value and another."""
    condition, replacement = call.argument(0, "cond"), call.argument(1, "other")
    deciding, other = call.find(condition), call.find(replacement)
    columns = {}
    for label in labels_in(call.result):
        own = value_of(call.source) if is_series(call.owner) else call.source.columns.get(label)
        column = transform([own or Column(), *([value_of(other)] if other else [])])
        column = add_reason(column, LEFT_THE_ENGINE) if call.is_odd(replacement) else column
        columns[label] = decide(column, [value_of(deciding)], CONDITIONAL) if deciding else _hidden(column, condition)
    return _matched(columns, [one for one in (call.source, other, deciding) if one], call)


def _hidden(column: Column, condition: Any) -> Column:
    return add_reason(column, OPAQUE_FUNCTION if callable(condition) else LEFT_THE_ENGINE)


def test_membership(call: Call) -> FrameLineage:
    """`isin`: whether values are among others."""
    others, is_odd = call.others, call.is_odd(call.argument(0, "values"))
    columns = {}
    for label in labels_in(call.result):
        own = transform([call.source.columns.get(label) or value_of(call.source)])
        found = decide(own, map(value_of, others), CONDITIONAL)
        columns[label] = add_reason(found, LEFT_THE_ENGINE) if is_odd else found
    return FrameLineage(
        columns, join_rows([call.source, *others]), join_inputs([call.source, *others]), call.source.index
    )


def sort(call: Call) -> FrameLineage:
    """Rows in another order, or the first ones of it."""
    by = call.argument(0 if call.method == "sort_values" else 1, "by" if call.method == "sort_values" else "columns")
    keys = [value_of(call.source)] if is_series(call.owner) else [pick(call.source, one) for one in labels_of(by)]
    return call.source.with_rows(rows_by(keys, SORT))


def drop_missing(call: Call) -> FrameLineage:
    """`dropna`: rows whose values are there; also columns that have any."""
    subset = labels_of(call.named.get("subset")) or list(call.source.columns)
    kept = {one: call.source.columns[one] for one in labels_in(call.result) if one in call.source.columns}
    source = replace(call.source, columns=kept)
    return source.with_rows(rows_by((pick(call.source, one) for one in subset), FILTER))


def drop_duplicates(call: Call) -> FrameLineage:
    """Rows that differ in a subset of the columns."""
    return call.source.with_rows(rows_by(_compared(call), GROUP_BY))


def find_duplicates(call: Call) -> FrameLineage:
    """`duplicated`: whether a row before has the same values in a subset of the columns."""
    return series_of(call.result.name, transform(_compared(call)), call.source)


def _compared(call: Call) -> list[Column]:
    subset = None if is_series(call.owner) else call.argument(0, "subset")
    return [pick(call.source, one) for one in labels_of(subset) or list(call.source.columns)]


def sort_index(call: Call) -> FrameLineage:
    """Rows in the order of the levels of the index; with `axis=1` columns in another order."""
    if call.argument(0, "axis", 0) in (1, "columns"):
        return call.source
    return call.source.with_rows(rows_by(call.source.index.values(), SORT))


def sample(call: Call) -> FrameLineage:
    """Rows by chance; with weights by those."""
    weights = call.argument(3, "weights")
    if weights is None:
        return call.source
    found = call.find(weights)
    column = value_of(found) if found else pick(call.source, weights) if isinstance(weights, str) else None
    return call.source.with_rows(rows_by([column or unknown(LEFT_THE_ENGINE)], FILTER))


def map_values(call: Call) -> FrameLineage:
    """`map`, `apply`, `applymap`, `transform` of one column: a function hides what it does of it."""
    function = call.args[0] if call.args else call.named.get("func", call.named.get("arg"))
    lookup = call.find(function)
    columns = {}
    for label in labels_in(call.result):
        own = call.source.columns.get(label) or value_of(call.source)
        column = transform([own, *([value_of(lookup)] if lookup else [])])
        if lookup:  # by the labels of its rows
            column = decide(column, lookup.index.values(), CONDITIONAL)
        if not lookup and (callable(function) or call.is_odd(function)):
            column = add_reason(column, OPAQUE_FUNCTION if callable(function) else LEFT_THE_ENGINE)
        columns[label] = column
    sources = [call.source, *([lookup] if lookup else [])]
    return FrameLineage(columns, join_rows(sources), join_inputs(sources), call.source.index)


def apply_frame(call: Call) -> FrameLineage | None:
    """`DataFrame.apply`: along columns each from itself, along rows each from all."""
    if call.argument(1, "axis", 0) in (0, "index") and is_frame(call.result):
        return map_values(call)
    if not is_frame(call.result) and not is_series(call.result):
        return None
    everything = add_reason(transform(call.source.columns.values()), OPAQUE_FUNCTION)
    return replace(call.source, columns=dict.fromkeys(labels_in(call.result), everything))


def use_ufunc(call: Call) -> FrameLineage | None:
    """A function of numpy over columns: `np.log(frame["x"])`, `np.maximum(a, b)`."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    sources = [one for one in map(call.find, call.args[2:]) if one is not None] or [call.source]
    columns = {}
    for label in labels_in(call.result):
        parts = [
            one.columns[label] if label in one.columns and is_frame(call.result) else value_of(one) for one in sources
        ]
        made = transform(parts)
        columns[label] = add_reason(made, LEFT_THE_ENGINE) if any(map(call.is_odd, call.args[2:])) else made
    return _matched(columns, sources, call)


def rename_series(call: Call) -> FrameLineage | None:
    """A series under another name."""
    return replace(call.source, columns={call.result.name: value_of(call.source)}) if is_series(call.result) else None


def make_frame(call: Call) -> FrameLineage:
    """`to_frame`."""
    return replace(call.source, columns={labels_in(call.result)[0]: value_of(call.source)})


def use_accessor(call: Call) -> FrameLineage | None:
    """A method or property of `.str`, `.dt` or `.cat`."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    sources = [call.source, *call.others]
    column = transform(map(value_of, sources))
    column = add_reason(column, LEFT_THE_ENGINE) if any(map(call.is_odd, call.given)) else column
    return FrameLineage(
        dict.fromkeys(labels_in(call.result), column), join_rows(sources), join_inputs(sources), call.source.index
    )


BOTH: dict[str, Rule] = {
    **dict.fromkeys(_SAME, keep),
    **dict.fromkeys(_COMPUTED, compute),
    "where": choose,
    "mask": choose,
    "isin": test_membership,
    "sort_values": sort,
    "dropna": drop_missing,
    "drop_duplicates": drop_duplicates,
    "map": map_values,
    "applymap": map_values,
    "transform": map_values,
    "duplicated": find_duplicates,
    "sort_index": sort_index,
    "sample": sample,
    "__array_ufunc__": use_ufunc,
}
OF_SERIES: dict[str, Rule] = {
    "apply": map_values,
    "rename": rename_series,
    "to_frame": make_frame,
    "nlargest": sort,
    "nsmallest": sort,
}
OF_FRAMES: dict[str, Rule] = {
    "apply": apply_frame,
    "query": query,
    "eval": evaluate,
    "nlargest": sort,
    "nsmallest": sort,
}
