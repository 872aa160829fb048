"""The rows of a generated table: values that fit conditions, and values a known step away from those of other rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from whence.capture.sql.trials.generation.moves import family_of, moved
from whence.capture.sql.trials.generation.tables import NULL, InputTable, Pool, Row

_MOST_KNOWN: Final = 40
_TRIES: Final = 8
_BARE: Final = 0.6


@dataclass(slots=True)
class RowMaker:
    """Makes the rows of one database. `focused`: the few values that most rows have, by pool; `nearness`: the share of
    rows that are made of another one by a step; `bareness`: of those that lose about half of their values together.
    """

    random: Random
    pools: Mapping[str, Pool]
    focused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    absent: float = 0.0
    strictness: float = 0.0
    nearness: float = 0.0
    bareness: float = 0.0
    known: list[tuple[InputTable, Row]] = field(default_factory=list)
    """The rows so far."""

    def rows(self, table: InputTable, count: int) -> Iterator[Row]:
        """Rows of which no two share a key, up to a number."""
        random = self.random
        nulls = [min(self.absent, 0.25) if random.random() < 0.6 else 0.0 for _ in table.columns]
        spread = [
            self.strictness if self.pools[one.pool].required or random.random() < 0.8 else random.choice((0.0, 0.5))
            for one in table.columns
        ]
        seen: list[set[Row]] = [set() for _ in table.keys]
        made: list[list[str]] = []
        for _ in range(count):
            row = self._row(table, made, nulls, spread)
            if self._place_keys(table, seen, row):
                made.append(row)
                self.remember(table, row)
        yield from map(tuple, made)

    def move(self, table: InputTable, row: list[str], names: frozenset[str] | None = None) -> None:
        """Replace one value of a row by one that is a step away: from it, from another of the row, or of any row."""
        places = [
            place
            for place, column in enumerate(table.columns)
            if column.is_named and self.pools[column.pool].moves and (names is None or column.name.lower() in names)
        ]
        if not places:
            return
        place = self.random.choice(places)
        column = table.columns[place]
        moves = self.pools[column.pool].moves
        origin = self._origin(table, row, place)
        move = self.random.choice((None, *moves)) if origin is not row[place] else self.random.choice(moves)
        if origin != NULL and (value := moved(origin, move, column.shape)) is not None:
            row[place] = value

    def bare(self, table: InputTable, row: list[str]) -> None:
        """Take values from a row, not those by which rows are grouped: what is a default for several needs them all
        to be NULL.
        """
        for place, column in enumerate(table.columns):
            if column.is_named and not self.pools[column.pool].is_grouping and self.random.random() < _BARE:
                row[place] = NULL

    def relate(self, table: InputTable, row: list[str]) -> None:
        """Give a row a value that is as far from another one as a query compares them."""
        related = [(place, one) for place, column in enumerate(table.columns) for one in column.relations]
        if not related:
            return
        place, relation = self.random.choice(related)
        of_row = _values_of(table, row, relation.names, place)
        joined = [
            value
            for other, found in self._joined_rows(table, row)
            for value in _values_of(other, found, relation.names)
        ]
        origins = of_row if of_row and self.random.random() < 0.6 else joined or of_row
        if not origins:
            return
        move = self.random.choice(relation.moves)
        if (value := moved(self.random.choice(origins), move, table.columns[place].shape)) is not None:
            row[place] = value

    def _row(
        self, table: InputTable, made: Sequence[list[str]], nulls: Sequence[float], spread: Sequence[float]
    ) -> list[str]:
        random = self.random
        row = [
            self._value(self.pools[column.pool], self.focused[column.pool], nulls[place], spread[place])
            for place, column in enumerate(table.columns)
        ]
        if made and random.random() < self.nearness:
            row = list(made[-1] if random.random() < 0.6 else random.choice(made))
            self.move(table, row)
        elif made and random.random() < 0.25:
            row = self._nearly(random.choice(made), row)
        if random.random() < self.nearness / 2:
            self.move(table, row)
        if random.random() < self.nearness:
            self.relate(table, row)
        if random.random() < self.bareness:
            self.bare(table, row)
        return row

    def _origin(self, table: InputTable, row: Sequence[str], place: int) -> str:
        """A value to start from: the row's own, another one of the row, or one of a row that it is joined with."""
        choice, family = self.random.random(), family_of(table.columns[place].shape)
        if choice < 0.4 or not self.known:
            return row[place]
        if choice < 0.6:
            return self.random.choice([*_of_family(table, row, family, place), row[place]])
        joined = self._joined_rows(table, row) if choice < 0.9 else []
        other, found = self.random.choice(joined or self.known[-_MOST_KNOWN:])
        return self.random.choice(_of_family(other, found, family) or [row[place]])

    def _joined_rows(self, table: InputTable, row: Sequence[str]) -> list[tuple[InputTable, Row]]:
        """The rows that share a value by which rows are joined or grouped."""
        keys = {
            (column.pool, value)
            for column, value in zip(table.columns, row, strict=True)
            if value != NULL and self.pools[column.pool].is_grouping
        }
        return [
            (other, found)
            for other, found in self.known
            if other is not table
            and any((one.pool, value) in keys for one, value in zip(other.columns, found, strict=True))
        ]

    def remember(self, table: InputTable, row: Sequence[str]) -> None:
        """Note a row, for others to be made of."""
        self.known.append((table, tuple(row)))

    def _value(self, pool: Pool, focus: tuple[str, ...], absent: float, strictness: float) -> str:
        if self.random.random() < absent:
            return NULL
        return self.random.choice(focus) if self.random.random() < strictness else self.early(pool)

    def early(self, pool: Pool) -> str:
        """A value of a pool: those that stand first more often."""
        return pool.values[int(len(pool.values) * self.random.random() ** 1.5)]

    def _nearly(self, before: list[str], fresh: list[str]) -> list[str]:
        """A row that is another one but for a few columns."""
        kept = self.random.choice((1.0, 0.85, 0.6))
        return [old if self.random.random() < kept else new for old, new in zip(before, fresh, strict=True)]

    def _place_keys(self, table: InputTable, seen: Sequence[set[Row]], row: list[str]) -> bool:
        """Give a row keys that no other row has; whether there is one."""
        for key, known in zip(table.keys, seen, strict=True):
            for _ in range(_TRIES):
                found = tuple(row[place] for place in key.places)
                if NULL in found:
                    if not key.is_complete:
                        break
                elif found not in known:
                    break
                place = self.random.choice(key.places)
                row[place] = self.early(self.pools[table.columns[place].pool])
            else:
                return False
        return add_keys(table, seen, row)


def add_keys(table: InputTable, seen: Sequence[set[Row]], row: Sequence[str]) -> bool:
    """Whether a row's keys are new; adds them to those of other rows if so."""
    found = [tuple(row[place] for place in key.places) for key in table.keys]
    for key, one, known in zip(table.keys, found, seen, strict=True):
        if key.is_complete if NULL in one else one in known:
            return False
    for one, known in zip(found, seen, strict=True):
        known.add(one)
    return True


def _of_family(table: InputTable, row: Sequence[str], family: str, but: int | None = None) -> list[str]:
    """The values of a row whose types can be made of each other's, without that of a place."""
    return [
        row[n]
        for n, one in enumerate(table.columns)
        if n != but and one.is_named and row[n] != NULL and family_of(one.shape) == family
    ]


def _values_of(table: InputTable, row: Sequence[str], names: frozenset[str], but: int | None = None) -> list[str]:
    """The values of a row in columns of these names, without that of a place."""
    return [row[n] for n, one in enumerate(table.columns) if n != but and row[n] != NULL and one.name.lower() in names]
