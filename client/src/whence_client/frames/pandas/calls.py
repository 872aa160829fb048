"""A call of a pandas method, as the rules see it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whence_client.frames.frames import FrameLineage, join_inputs, join_rows
from whence_client.lineage.columns import (
    CONDITIONAL,
    EMPTY,
    FILTER,
    LEFT_THE_ENGINE,
    NOT_CAPTURED,
    Column,
    decide,
    merge,
    unknown,
)
from whence_client.lineage.rows import NO_ROWS, Rows, rows_by

Find = Callable[[Any], "FrameLineage | None"]


@dataclass(frozen=True)
class Call:
    """A call on an object of known lineage. `find` knows the lineage of other frames, series and groups.

    `named` has the arguments that were given by position, too, where the names of the parameters are known.
    """

    method: str
    source: FrameLineage
    owner: Any
    args: tuple[Any, ...]
    named: dict[str, Any]
    result: Any
    find: Find = field(repr=False)
    have_values_left: bool = False
    """Whether the job has taken values of frames into lists, dictionaries or loops of Python."""

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument, given by position or by name."""
        return self.named.get(name, self.args[position] if len(self.args) > position else default)

    @property
    def given(self) -> list[Any]:
        """All arguments, each once."""
        return list({id(one): one for one in (*self.args, *self.named.values())}.values())

    @property
    def others(self) -> list[FrameLineage]:
        """The lineage of all arguments that have one."""
        return [one for one in map(self.find, self.given) if one is not None]

    def is_odd(self, value: Any) -> bool:
        """Whether an argument holds values of unknown origin: a frame, a series, an array, labels of rows, a number
        that numpy computed, or a collection of Python that may have such values.
        """
        if self.find(value) is not None or is_constant(value):
            return False
        if isinstance(value, slice):
            return any(map(_is_result, (value.start, value.stop)))
        if isinstance(value, (Mapping, list, tuple, set, frozenset)):
            items = [*value, *value.values()] if isinstance(value, Mapping) else value
            return bool(items) and (self.have_values_left or any(map(_is_result, items)))
        return _is_result(value)


Rule = Callable[[Call], "FrameLineage | None"]


def _is_result(value: Any) -> bool:
    """Whether it is an array, an index, a series, a frame, or a number of numpy: none is a literal of the program."""
    return (hasattr(value, "dtype") or hasattr(value, "dtypes")) and not isinstance(value, type)


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters that may be given by position; none of a function that is not in Python.

    >>> parameters_of(lambda frame, how="left", *, on: frame)
    ('frame', 'how')
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_varnames[: code.co_argcount] if code else ()


def is_frame(thing: Any) -> bool:
    """Whether it is a DataFrame: it has columns by name."""
    return type(thing).__name__ == "DataFrame" or any(one.__name__ == "DataFrame" for one in type(thing).__mro__)


def is_series(thing: Any) -> bool:
    """Whether it is a Series: one column."""
    return any(one.__name__ == "Series" for one in type(thing).__mro__)


_GROUPS = ("pandas.core.groupby", "pandas.core.window", "pandas.core.resample")
"""Where groups and windows are defined. Since pandas 3 their classes themselves say `pandas.api.typing`."""


def is_tracked(thing: Any) -> bool:
    """Whether an object carries lineage: a frame, a series, a group, a window."""
    return is_frame(thing) or is_series(thing) or any(one.__module__.startswith(_GROUPS) for one in type(thing).__mro__)


def value_of(lineage: FrameLineage) -> Column:
    """The column of a series; all columns together of a frame."""
    return merge(lineage.columns.values())


def series_of(name: Hashable, column: Column, *sources: FrameLineage) -> FrameLineage:
    """The lineage of a series, with the rows of the frames that it came from."""
    first = sources[0] if sources else FrameLineage()
    return FrameLineage({name: column}, join_rows(sources), join_inputs(sources), first.index)


def value_column(value: Any, find: Find, rows: Rows = NO_ROWS, target: Any = None, *, at: int | None = None) -> Column:
    """The column that assigning a value, or its column `at` a position, to a target makes. `rows` are those of the
    target: other influences come with the value.
    """
    lineage = find(value)
    if lineage is not None:
        own = value_of(lineage) if at is None else list(lineage.columns.values())[at]
        column = decide(own, matched_levels((target, value), find), CONDITIONAL)
        return Column(
            column.direct,
            column.indirect | (lineage.rows.edges - rows.edges),
            column.reasons | (lineage.rows.reasons - rows.reasons),
        )
    return EMPTY if is_constant(value) else unknown(LEFT_THE_ENGINE)


def is_constant(value: Any) -> bool:
    """Whether it is a literal of the program. A number of numpy is a result: where it came from is not known."""
    return value is None or (
        isinstance(value, (str, bytes, int, float, complex)) and type(value).__module__ == "builtins"
    )


def pick(source: FrameLineage, label: Hashable) -> Column:
    """A column or index level by its label."""
    found = source.columns.get(label)
    return found or source.index.get(label) or unknown(NOT_CAPTURED)


def level_of(source: FrameLineage, name: Any) -> Column:
    """A level of the index by its name; a number of the row has no source."""
    return source.index.get(name) or source.index.get(..., unknown(NOT_CAPTURED) if source.index else EMPTY)


def rows_chosen_by(value: Any, call: Call) -> Rows:
    """What chooses rows: a mask, labels or positions of known lineage. Literals are the program's."""
    found = call.find(value)
    if found is not None:
        levels = matched_levels((call.owner, value), call.find) if is_truth(value) else []
        return rows_by([value_of(found), *levels], FILTER) | found.rows
    return Rows(reasons=frozenset((LEFT_THE_ENGINE,))) if call.is_odd(value) else NO_ROWS


def is_truth(value: Any) -> bool:
    """Whether it is a truth for each row."""
    return str(getattr(value, "dtype", "")).startswith("bool")


def matched_levels(things: Iterable[Any], find: Find) -> list[Column]:
    """The levels of the indexes by whose labels the rows of frames and series meet; none if all have the same index."""
    labelled = [one for one in things if is_frame(one) or is_series(one)]
    if all(one.index.is_(labelled[0].index) for one in labelled):
        return []
    return [level for found in map(find, labelled) if found for level in found.index.values()]


def joined_index(sources: Iterable[FrameLineage]) -> dict[Any, Column]:
    """The levels of an index that has the labels of several."""
    levels: dict[Any, list[Column]] = {}
    for source in sources:
        for name, level in source.index.items():
            levels.setdefault(name, []).append(level)
    return {name: merge(each) for name, each in levels.items()}


def labels_of(value: Any) -> list[Any]:
    """One label or a list of them, as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, set)) or type(value).__name__ == "Index" else [value]


def descend(source: FrameLineage, labels: Iterable[Hashable], reason: str) -> FrameLineage:
    """A frame that came from another in an unknown way: its datasets, and no sources of its columns and rows."""
    rows = source.rows | Rows(reasons=frozenset((reason,)))
    return FrameLineage(dict.fromkeys(labels, unknown(reason)), rows, source.inputs, {...: unknown(reason)})


def labels_in(result: Any) -> list[Any]:
    """The labels of a result's columns; of a series its name."""
    return list(result.columns) if is_frame(result) else [result.name]
