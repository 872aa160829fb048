"""Rows of answers as data frames, if pandas or polars is installed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from whence.errors import NotInstalledError

if TYPE_CHECKING:
    import pandas
    import polars

Rows = Sequence[Mapping[str, Any]]


def pandas_frame(columns: Sequence[str], rows: Rows) -> "pandas.DataFrame":
    """A pandas DataFrame of these columns; lists and objects are unchanged. Raises NotInstalledError."""
    frames = _installed("pandas")
    return frames.DataFrame([[row[column] for column in columns] for row in rows], columns=list(columns))


def polars_frame(columns: Sequence[str], rows: Rows) -> "polars.DataFrame":
    """A polars DataFrame of these columns; lists and objects become lists and structs. Raises NotInstalledError."""
    frames = _installed("polars")
    made: polars.DataFrame = frames.DataFrame({one: [row[one] for row in rows] for one in columns}, strict=False)
    return made


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise NotInstalledError(name, f"pip install {name}") from None
