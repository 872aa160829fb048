"""The columns that a file or table has of a frame: of its columns and its index, under the names that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whence_client.frames.frames import FrameLineage
from whence_client.frames.pandas.calls import is_frame, labels_in, labels_of, level_of
from whence_client.lineage.columns import NOT_CAPTURED, Column, unknown

Output = tuple[str, Any, Column]
"""The name of a written column, its type, and its lineage."""

_KEEPS_INDEX = {
    **dict.fromkeys(("to_csv", "to_excel", "to_xml", "to_sql"), ("index", True)),
    "to_parquet": ("index", None),
    "to_stata": ("write_index", True),
    "to_pickle": ("", True),
}
"""The parameter that says whether an index is written, and its default; None: unless it numbers the rows."""
_NAMES_INDEX = ("to_sql", "to_stata", "to_xml")
"""Writers that name an index that has no name."""


def written_columns(method: str, frame: Any, lineage: FrameLineage, named: Mapping[str, Any]) -> Iterator[Output]:
    """The columns that a call of a writer has written, in their order. An index without a name has no column."""
    yield from _index_columns(method, frame, lineage, named)
    types = dict(frame.dtypes.items()) if is_frame(frame) else {frame.name: frame.dtype}
    chosen, header = named.get("columns"), named.get("header")
    labels = labels_in(frame) if chosen is None or not is_frame(frame) else labels_of(chosen)
    names = header if isinstance(header, (list, tuple)) else labels
    for label, name in zip(labels, names):
        yield str(name), types.get(label), lineage.columns.get(label) or unknown(NOT_CAPTURED)


def _index_columns(method: str, frame: Any, lineage: FrameLineage, named: Mapping[str, Any]) -> Iterator[Output]:
    index, label = frame.index, named.get("index_label")
    if label is False or not _is_index_kept(method, index, named):
        return
    levels, names = list(index.names), list(index.names) if label is None else labels_of(label)
    for position, (level, name) in enumerate(zip(levels, names)):
        if name is None and method in _NAMES_INDEX:
            name = "index" if len(levels) == 1 else f"level_{position}"
        if name is not None:
            yield str(name), getattr(index, "levels", [index])[position].dtype, level_of(lineage, level)


def _is_index_kept(method: str, index: Any, named: Mapping[str, Any]) -> bool:
    if method == "to_json":
        return named.get("orient") == "table"
    parameter, default = _KEEPS_INDEX.get(method, ("", False))
    kept = named.get(parameter, default)
    return type(index).__name__ != "RangeIndex" if kept is None else bool(kept)
