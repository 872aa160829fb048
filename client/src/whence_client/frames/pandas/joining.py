"""Rules of calls that bring frames together: merge, join, concat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows, unknown_frame
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
    value_of,
)
from whence_client.lineage.columns import (
    EMPTY,
    JOIN,
    LEFT_THE_ENGINE,
    NOT_CAPTURED,
    SORT,
    Column,
    merge,
    unknown,
)
from whence_client.lineage.rows import rows_by


def merge_frames(call: Call) -> FrameLineage | None:
    """`left.merge(right)`, `pd.merge(left, right)`, `merge_asof`."""
    left_frame, right_frame = (
        (call.owner, call.argument(0, "right"))
        if is_frame(call.owner)
        else (call.argument(0, "left"), call.argument(1, "right"))
    )
    left, right = _side(left_frame, call), _side(right_frame, call)
    how = call.named.get("how", "inner")
    on_left = labels_of(call.named.get("left_on", call.named.get("on")))
    on_right = labels_of(call.named.get("right_on", call.named.get("on")))
    by_index = call.named.get("left_index"), call.named.get("right_index")
    if not on_left and not on_right and not any(by_index) and how != "cross":
        on_left = on_right = [one for one in left.columns if one in right.columns]
    keys = [*_keys(on_left, left, by_index[0]), *_keys(on_right, right, by_index[1])]
    by = [pick(side, one) for side in (left, right) for one in labels_of(call.named.get("by"))]
    shared = {one for one, other in zip(on_left, on_right) if one == other} | set(labels_of(call.named.get("by")))
    suffixes = call.named.get("suffixes") or ("_x", "_y")
    columns = {label: _merged(label, left, right, shared, how, suffixes) for label in labels_in(call.result)}
    rows = join_rows((left, right)) | rows_by([*keys, *by], JOIN)
    if call.method == "merge_asof":
        rows |= rows_by(keys, SORT)
    index = _index(left, right, how) if any(by_index) else {}
    return FrameLineage(columns, rows, join_inputs((left, right)), index)


def _index(left: FrameLineage, right: FrameLineage, how: str) -> dict[Any, Column]:
    return joined_index((left, right)) if how in ("right", "outer") else {**right.index, **left.index}


def _side(frame: Any, call: Call) -> FrameLineage:
    """One side of a join; its columns and rows are there even if nothing is known of them."""
    found = call.find(frame)
    if found is not None:
        return found
    labels = labels_in(frame) if is_frame(frame) or is_series(frame) else []
    return unknown_frame(labels, LEFT_THE_ENGINE)


def _keys(labels: list[Any], side: FrameLineage, by_index: Any) -> list[Column]:
    return [pick(side, one) for one in labels] if labels else list(side.index.values()) if by_index else []


def _merged(
    label: Any, left: FrameLineage, right: FrameLineage, shared: set[Any], how: str, suffixes: tuple[Any, Any]
) -> Column:
    in_left, in_right = label in left.columns or label in left.index, label in right.columns or label in right.index
    if label in shared and in_left and in_right:
        both = {"right": [pick(right, label)], "outer": [pick(left, label), pick(right, label)]}
        return merge(both.get(how, [pick(left, label)]))
    if label in left.columns and (label not in right.columns or not suffixes[0]):
        return left.columns[label]
    if label in right.columns and (label not in left.columns or not suffixes[1]):
        return right.columns[label]
    for side, suffix in ((left, suffixes[0]), (right, suffixes[1])):
        stem = str(label)[: -len(suffix)] if suffix and str(label).endswith(suffix) else None
        if stem in side.columns:
            return side.columns[stem]
    return EMPTY if label == "_merge" else unknown(NOT_CAPTURED)


def join_frames(call: Call) -> FrameLineage | None:
    """`left.join(other, on=…)`: by the index of the other."""
    other = call.argument(0, "other")
    if not is_frame(other) and not is_series(other):
        return None
    left, right = call.source, _side(other, call)
    on = labels_of(call.argument(1, "on"))
    keys = [pick(left, one) for one in on] if on else list(left.index.values())
    suffixes = (call.named.get("lsuffix", ""), call.named.get("rsuffix", ""))
    columns = {label: _merged(label, left, right, set(), "left", suffixes) for label in labels_in(call.result)}
    rows = join_rows((left, right)) | rows_by([*keys, *right.index.values()], JOIN)
    index = _index(left, right, call.named.get("how", "left")) if not on else left.index
    return FrameLineage(columns, rows, join_inputs((left, right)), index)


def concatenate(call: Call) -> FrameLineage | None:
    """`pd.concat`: rows below each other by name, or columns side by side."""
    given = call.argument(0, "objs")
    objects = (
        list(given.values()) if isinstance(given, Mapping) else list(given) if isinstance(given, (list, tuple)) else []
    )
    if not objects:
        return None
    sides = [_side(one, call) for one in objects if one is not None]
    labels = labels_in(call.result)
    is_beside = call.argument(1, "axis", 0) in (1, "columns")
    if is_beside:
        flat = [column for side in sides for column in side.columns.values()]
        columns = dict(zip(labels, flat)) if len(flat) == len(labels) else dict.fromkeys(labels, unknown(NOT_CAPTURED))
    elif is_series(call.result):
        columns = {labels[0]: merge(map(value_of, sides))}
    else:
        columns = {label: merge(side.columns.get(label, EMPTY) for side in sides) for label in labels}
    levels = matched_levels(objects, call.find) if is_beside else []
    rows = join_rows(sides) | rows_by(levels, JOIN)
    is_numbered = call.named.get("ignore_index") and not is_beside
    return FrameLineage(columns, rows, join_inputs(sides), {} if is_numbered else joined_index(sides))


OF_FRAMES: dict[str, Rule] = {"merge": merge_frames, "join": join_frames}
OF_MODULE: dict[str, Rule] = {
    "merge": merge_frames,
    "merge_asof": merge_frames,
    "merge_ordered": merge_frames,
    "concat": concatenate,
}
