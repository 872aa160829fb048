"""What executes the versions of a statement, on random databases."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What a statement made: the names and types of its columns, and its rows."""

    types: Mapping[str, str]
    rows: tuple[Row, ...]


class StatementError(Exception):
    """A version does not run. `is_broken`: on no data at all."""

    def __init__(self, message: str, is_broken: bool) -> None:
        super().__init__(message)
        self.is_broken = is_broken


class Database(Protocol):
    """A random database on which versions of one statement run, each on the same rows."""

    def run(self, sql: str) -> Table:
        """Raises StatementError."""
        ...


class Engine(Protocol):
    def databases(self, versions: Sequence[str], statement: str) -> AbstractContextManager[Sequence[Database]]:
        """Random databases for the versions of a statement; the last of them have empty tables."""
        ...
