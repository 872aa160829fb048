"""Rules of calls that choose, name or move columns, and of indexing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whence_client.frames.frames import FrameLineage
from whence_client.frames.pandas.calls import (
    Call,
    Rule,
    is_constant,
    is_frame,
    is_series,
    is_truth,
    labels_in,
    labels_of,
    level_of,
    pick,
    rows_chosen_by,
    series_of,
    value_of,
)
from whence_client.lineage.columns import (
    CONDITIONAL,
    EMPTY,
    FILTER,
    JOIN,
    LEFT_THE_ENGINE,
    NOT_CAPTURED,
    Column,
    decide,
    merge,
    transform,
    unknown,
)
from whence_client.lineage.rows import rows_by


def get_item(call: Call) -> FrameLineage | None:
    """`frame[key]`: a column, several columns, or rows by a condition."""
    key = call.args[0]
    mask = call.find(key)
    if is_series(call.owner):
        return call.source.with_rows(rows_chosen_by(key, call)) if is_series(call.result) else None
    if mask is not None and is_frame(key) and len(call.result.columns) == len(call.owner.columns):
        return _masked(call, mask)
    if _chooses_rows(key, call):
        return call.source.with_rows(rows_chosen_by(key, call))
    if is_series(call.result):
        return series_of(key, pick(call.source, key), call.source)
    kept = {label: pick(call.source, label) for label in labels_in(call.result)}
    return replace(call.source, columns=kept)


def _chooses_rows(key: Any, call: Call) -> bool:
    """Whether a key has a truth for each row, or is a range of them. Others are labels of columns."""
    if isinstance(key, (slice, list)):
        return isinstance(key, slice) or (bool(key) and isinstance(key[0], bool))
    return is_truth(key) or (is_series(key) and labels_in(call.result) == labels_in(call.owner))


def _masked(call: Call, mask: FrameLineage) -> FrameLineage:
    """`frame[frame > 0]`: values where a condition holds."""
    columns = {
        label: decide(column, [mask.columns.get(label) or value_of(mask)], CONDITIONAL)
        for label, column in call.source.columns.items()
    }
    return replace(call.source, columns=columns)


def get_location(call: Call) -> FrameLineage | None:
    """`frame.loc[rows, columns]`, `frame.iloc[rows, columns]`."""
    if not is_frame(call.result) and not is_series(call.result):
        return None
    rows, chosen = location_parts(call.args[0])
    source = call.source.with_rows(rows_chosen_by(rows, call))
    if call.method != "iloc" and is_label(rows):
        source = source.with_rows(rows_by(call.source.index.values(), FILTER))
    if is_series(call.owner):
        return source
    if is_series(call.result):
        return _one_column_or_row(call, source, chosen)
    labels = labels_in(call.result)
    return replace(source, columns={label: pick(call.source, label) for label in labels})


def is_label(rows: Any) -> bool:
    """Whether rows are named by the labels of the index: neither a truth for each, nor all of them, nor a function."""
    if isinstance(rows, slice):
        return rows != slice(None)
    first = rows[0] if isinstance(rows, list) and rows else rows
    return not isinstance(first, bool) and not is_truth(rows) and not callable(rows)


def _one_column_or_row(call: Call, source: FrameLineage, chosen: Any) -> FrameLineage:
    """A series is a column if it has the name of one; a row of the frame holds a value of every column."""
    name = call.result.name
    if chosen is not None and name in call.source.columns:
        return series_of(name, call.source.columns[name], source)
    return series_of(name, transform(call.source.columns.values()), source)


def location_parts(key: Any) -> tuple[Any, Any]:
    return (key[0], key[1]) if isinstance(key, tuple) and len(key) == 2 else (key, None)


def rename(call: Call) -> FrameLineage:
    """The same columns under other names, by their positions."""
    labels = labels_in(call.result)
    if len(labels) != len(call.source.columns):
        return replace(call.source, columns=dict.fromkeys(labels, unknown(NOT_CAPTURED)))
    return replace(call.source, columns=dict(zip(labels, call.source.columns.values())))


def subset(call: Call) -> FrameLineage | None:
    """Columns of the same names: `drop`, `filter`, `select_dtypes`, `reindex`. A new column has no source."""
    if not is_frame(call.result):
        return call.source if is_series(call.result) else None
    return replace(
        call.source, columns={label: call.source.columns.get(label, EMPTY) for label in labels_in(call.result)}
    )


def drop(call: Call) -> FrameLineage | None:
    """Columns of the same names, or rows without those of some labels."""
    made = subset(call)
    labels = call.named.get("index", call.argument(0, "labels") if _is_of_rows(call) else None)
    if made is None or labels is None:
        return made
    return made.with_rows(rows_chosen_by(labels, call) | rows_by(call.source.index.values(), FILTER))


def reindex(call: Call) -> FrameLineage | None:
    """Columns of the same names, or rows of these labels, which become the index."""
    made = subset(call)
    labels = call.named.get("index", call.argument(0, "labels") if _is_of_rows(call) else None)
    if made is None or labels is None:
        return made
    rows = rows_chosen_by(labels, call) | rows_by(call.source.index.values(), JOIN)
    return replace(made.with_rows(rows), index=levels_of(labels, call))


def _is_of_rows(call: Call) -> bool:
    return call.named.get("axis") in (None, 0, "index")


def take(call: Call) -> FrameLineage:
    """Rows at positions."""
    return call.source.with_rows(rows_chosen_by(call.argument(0, "indices"), call))


def reset_index(call: Call) -> FrameLineage:
    """Levels of the index become columns; a number of the row has no source."""
    columns = dict(call.source.columns)
    if is_series(call.owner) and is_frame(call.result):
        columns = {labels_in(call.result)[-1]: value_of(call.source)}
    made = {label: columns.get(label) or level_of(call.source, _plain(label)) for label in labels_in(call.result)}
    return replace(call.source, columns=made, index={})


def _plain(label: Any) -> Any:
    """The level that a column of several levels was: `("region", "")`."""
    return label[0] if isinstance(label, tuple) and not any(label[1:]) else label


def set_index(call: Call) -> FrameLineage:
    """Columns become levels of the index."""
    keys = labels_of(call.argument(0, "keys"))
    index = {
        getattr(key, "name", key): (value_of(found) if (found := call.find(key)) else pick(call.source, key))
        for key in keys
        if _is_label(key) or call.find(key)
    }
    kept = {label: call.source.columns.get(label, EMPTY) for label in labels_in(call.result)}
    return replace(call.source, columns=kept, index=index)


def _is_label(key: Any) -> bool:
    return is_constant(key) or isinstance(key, tuple)


def set_axis(call: Call) -> FrameLineage | None:
    """`frame.columns = [...]`: the same columns under other names."""
    labels = labels_in(call.owner)
    if len(labels) != len(call.source.columns):
        return None
    if list(labels) != list(call.source.columns):
        return replace(call.source, columns=dict(zip(labels, call.source.columns.values())))
    return replace(call.source, index=levels_of(call.argument(1, "labels"), call))


def levels_of(labels: Any, call: Call) -> dict[Any, Column]:
    """The levels of an index that was set: of a column, of numbers, or of values that are not known."""
    found = call.find(labels)
    if found is not None:
        return {getattr(labels, "name", None): value_of(found)}
    return {} if type(labels).__name__ in ("range", "RangeIndex") else {...: unknown(LEFT_THE_ENGINE)}


def explode(call: Call) -> FrameLineage:
    """Items of lists as rows."""
    chosen = labels_of(call.argument(0, "column")) or list(call.source.columns)
    columns = {label: transform([one]) if label in chosen else one for label, one in call.source.columns.items()}
    return replace(call.source, columns=columns)


def melt(call: Call) -> FrameLineage:
    """Columns become rows: values of several in one column."""
    kept = labels_of(call.argument(0, "id_vars"))
    chosen = labels_of(call.argument(1, "value_vars")) or [one for one in call.source.columns if one not in kept]
    value = call.argument(3, "value_name", "value")
    columns = {}
    for label in labels_in(call.result):
        if label in kept:
            columns[label] = pick(call.source, label)
        else:
            columns[label] = merge(pick(call.source, one) for one in chosen) if label == value else EMPTY
    return replace(call.source, columns=columns, index={})


def transpose(call: Call) -> FrameLineage:
    """`T`: each row becomes a column, which has a value of every column; names of columns become the index."""
    everything = merge(call.source.columns.values())
    return replace(call.source, columns=dict.fromkeys(labels_in(call.result), everything), index={})


BOTH: dict[str, Rule] = {
    "__getitem__": get_item,
    "reset_index": reset_index,
    "explode": explode,
    "reindex": reindex,
    "drop": drop,
    "take": take,
}
OF_FRAMES: dict[str, Rule] = {
    "rename": rename,
    "add_prefix": rename,
    "add_suffix": rename,
    "set_axis": rename,
    "filter": subset,
    "select_dtypes": subset,
    "set_index": set_index,
    "melt": melt,
    "transpose": transpose,
}
