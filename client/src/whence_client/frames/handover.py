"""What passes from one library to another: a frame that is made of frames, series and arrays of known lineage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows, unknown_frame
from whence_client.lineage.columns import LEFT_THE_ENGINE, Column, merge, unknown

Find = Callable[[Any], "FrameLineage | None"]


def adopt_values(data: Any, names: Sequence[Any], find: Find) -> FrameLineage:
    """The lineage of a frame with these columns, made of `data`: a frame, an array, or columns in a mapping or list."""
    if isinstance(data, (list, tuple)) and len(data) == len(names):
        data = dict(zip(names, data))
    if isinstance(data, Mapping):
        found = {name: find(data.get(name)) for name in names}
        known = [one for one in found.values() if one is not None]
        columns = {name: _value_of(one) for name, one in found.items()}
        if known:
            return FrameLineage(columns, join_rows(known), join_inputs(known))
        return unknown_frame(names, LEFT_THE_ENGINE)
    source = find(data)
    if source is None:
        return unknown_frame(names, LEFT_THE_ENGINE)
    return rename_columns(source, names)


def rename_columns(source: FrameLineage, names: Sequence[Any]) -> FrameLineage:
    """The same columns by their positions under other names."""
    if len(source.columns) != len(names):
        known = {name: source.columns.get(name) or unknown(LEFT_THE_ENGINE) for name in names}
        return FrameLineage(known, source.rows, source.inputs)
    return FrameLineage(dict(zip(names, source.columns.values())), source.rows, source.inputs)


def _value_of(found: FrameLineage | None) -> Column:
    return merge(found.columns.values()) if found is not None else unknown(LEFT_THE_ENGINE)
