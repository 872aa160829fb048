"""The tables that queries read, their columns and keys, and the rows of a generated database."""

from dataclasses import dataclass
from typing import Final

from whence.capture.sql.trials.generation.moves import Move
from whence.capture.sql.trials.generation.values import Shape

Row = tuple[str, ...]
"""Values as SQL literals."""
NULL: Final = "NULL"


@dataclass(frozen=True, slots=True)
class Pool:
    """The values of the columns that are compared with each other. `required`: for each condition without which a row
    is left out, whether it is true of each value; `optional`: for each other condition.
    """

    values: tuple[str, ...]
    required: tuple[tuple[bool | None, ...], ...] = ()
    optional: tuple[tuple[bool | None, ...], ...] = ()
    is_grouping: bool = False
    """Whether rows are grouped, joined or partitioned by them."""
    moves: tuple[Move, ...] = ()
    """The steps between two values that matter."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Columns that a query compares with each other, and the steps between their values that matter there."""

    names: frozenset[str]
    moves: tuple[Move | None, ...]


@dataclass(frozen=True, slots=True)
class InputColumn:
    name: str
    shape: Shape
    pool: str
    """The name of its pool."""
    is_named: bool = True
    """Whether a query names it."""
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """Columns, by place, that no two rows share; `is_complete`: none of them is NULL."""

    places: tuple[int, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class InputTable:
    """A table that queries read and nothing builds. `parts`: of its name."""

    parts: tuple[str, ...]
    columns: tuple[InputColumn, ...]
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Database:
    """The rows of each table, in the order of the tables."""

    number: int
    rows: tuple[tuple[Row, ...], ...]

    @property
    def size(self) -> int:
        return sum(map(len, self.rows))
