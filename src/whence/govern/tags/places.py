"""Tags of tables and columns as a warehouse has them."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A table (its name in parts), or a column of it, as the warehouse spells them."""

    table: tuple[str, ...]
    column: str = ""

    def __str__(self) -> str:
        return ".".join((*self.table, *filter(None, [self.column])))


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class TagAt:
    """A tag of a place. `inherited`: it was set on what contains the table or column."""

    place: Place
    key: str
    value: str
    inherited: bool = False
    is_ours: bool = False
    """Whether Whence wrote it."""


@dataclass(frozen=True, slots=True)
class Spellings:
    """How a warehouse spells tables and columns: those of an export, found in any letter case if that is unique."""

    tables: Mapping[tuple[str, ...], frozenset[tuple[str, ...]]]
    columns: Mapping[tuple[str, ...], frozenset[str]]

    def table(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """The table as it is spelled; as given if it is unknown, or if several are spelled alike."""
        found = self.tables.get(_fold(parts), frozenset())
        return parts if parts in found or len(found) != 1 else next(iter(found))

    def column(self, table: tuple[str, ...], column: str) -> str:
        """A column of a table as it is spelled; as given if it is unknown, or if several are spelled alike."""
        known = self.columns.get(table, frozenset())
        found = [one for one in known if one.casefold() == column.casefold()]
        return column if column in known or len(found) != 1 else found[0]


def read_spellings(places: Iterable[Place]) -> Spellings:
    """How some places are spelled."""
    tables: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    columns: dict[tuple[str, ...], set[str]] = {}
    for one in places:
        tables.setdefault(_fold(one.table), set()).add(one.table)
        columns.setdefault(one.table, set()).update({one.column} - {""})
    return Spellings(
        {key: frozenset(several) for key, several in tables.items()},
        {key: frozenset(several) for key, several in columns.items()},
    )


def drop_inherited(tags: Iterable[TagAt]) -> tuple[TagAt, ...]:
    """Tags in order, once each: an inherited one only where no tag with its key was set directly."""
    several = sorted(set(tags))
    direct = {(one.place, one.key.casefold()) for one in several if not one.inherited}
    return tuple(one for one in several if not one.inherited or (one.place, one.key.casefold()) not in direct)


def is_printable(name: str) -> bool:
    """Whether a name has no control characters, which no plan writes: clients read some of them as commands."""
    return not any(unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") for one in name)


def _fold(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.casefold() for part in parts)
