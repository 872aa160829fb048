"""What generated queries are made of: the tables, relations to select from, and the draw that decides."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Literal, NamedTuple

TABLES = {"a": ("id", "k", "x", "y"), "b": ("id", "k", "z", "w"), "c": ("id", "g", "v")}


class Relation(NamedTuple):
    """Something to select from: its text, the names of its columns, and what to put before them."""

    sql: str
    alias: str
    columns: tuple[str, ...]

    @property
    def qualified(self) -> tuple[str, ...]:
        return tuple(f"{self.alias}.{column}" for column in self.columns)


class Query(NamedTuple):
    """Text, and the names of the output."""

    sql: str
    columns: tuple[str, ...]


class Draw(NamedTuple):
    """Chance, names that are not taken yet, and what may be drawn. `deep`: also what most queries do not have."""

    random: Random
    names: Iterator[int]
    dialect: Literal["duckdb", "spark"] = "duckdb"
    deep: bool = False

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, of: Sequence[str]) -> str:
        return self.random.choice(of)

    def name(self, prefix: str) -> str:
        return f"{prefix}{next(self.names)}"
