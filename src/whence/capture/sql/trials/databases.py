"""Generated databases: rows for the tables that queries read, made of the values that matter to these queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from whence.capture.sql.trials.values import Shape

Row = tuple[str, ...]
"""Values as SQL literals."""
NULL: Final = "NULL"
_SIZES: Final = (3, 6, 1, 8, 12, 2, 5, 10, 4, 12, 7, 30, 9)


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


@dataclass(frozen=True, slots=True)
class InputColumn:
    name: str
    shape: Shape
    pool: str
    """The name of its pool."""


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


def make_database(number: int, tables: Sequence[InputTable], pools: Mapping[str, Pool], seed: str) -> Database:
    """The database of a number: the same for the same seed. The first ones have empty tables."""
    random = Random(f"{seed}{number}")
    if number == 0:
        return Database(0, ((),) * len(tables))
    is_strict = number % 3 != 0
    is_deep = number % 4 == 3
    focused = {name: _focus(random, pool, is_strict and random.random() < 0.9, is_deep) for name, pool in pools.items()}
    focused |= _as_texts(random, pools, focused)
    absent = random.choice((0.0, 0.1, 0.1, 0.25, 0.25, 0.5))
    strictness = random.choice((0.5, 0.8, 0.9, 1.0) if not is_strict else (0.8, 0.9, 0.95))
    size = 12 if is_deep else _SIZES[number % len(_SIZES)]
    if is_deep:
        absent, strictness = random.choice((0.0, 0.1)), 0.95
    emptied = number - 1 if number <= min(len(tables), 4) and len(tables) > 1 else None
    rows = []
    for place, table in enumerate(tables):
        is_empty = place == emptied or (len(tables) > 1 and random.random() < 0.05)
        count = 0 if is_empty else max(1, size + random.choice((-2, -1, 0, 0, 1, 2)))
        rows.append(tuple(_rows(random, table, pools, focused, count, absent, strictness)))
    return Database(number, tuple(rows))


def _focus(random: Random, pool: Pool, is_strict: bool, is_deep: bool) -> tuple[str, ...]:
    """The few values that most rows of a database have: such that a random choice of the conditions holds."""
    places = list(range(len(pool.values)))
    random.shuffle(places)
    count = random.choice((1, 2, 2, 3, 3, 5))
    wanted = [(holds, is_strict or random.choice((True, True, True, None, False))) for holds in pool.required]
    if pool.optional and random.random() < 0.5:
        wanted.append((random.choice(pool.optional), random.choice((True, False))))

    def agreement(place: int) -> int:
        return sum(want is not None and holds[place] is want for holds, want in wanted)

    places.sort(key=agreement, reverse=True)
    best = agreement(places[0])
    if is_deep:
        count = 1 if pool.is_grouping else 8
        if random.random() < 0.5:
            places.sort()
    count = min(count, sum(agreement(place) == best for place in places)) if pool.required else count
    chosen = [pool.values[place] for place in places[:count]]
    if pool.is_grouping and random.random() < 0.2:
        chosen.append(NULL)
    return tuple(chosen)


def _as_texts(
    random: Random, pools: Mapping[str, Pool], focused: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The numbers of one pool as texts for another one of columns that are compared with it."""
    for name, pool in pools.items():
        for other, focus in focused.items():
            if other != name and other.partition(": ")[0] == name.partition(": ")[0] and random.random() < 0.8:
                texts = tuple(f"'{value.strip(chr(39))}'" for value in focus)
                if shared := tuple(text for text in texts if text in pool.values):
                    yield name, shared


def _rows(
    random: Random,
    table: InputTable,
    pools: Mapping[str, Pool],
    focused: Mapping[str, tuple[str, ...]],
    count: int,
    absent: float,
    strictness: float,
) -> Iterator[Row]:
    nulls = [min(absent, 0.25) if random.random() < 0.6 else 0.0 for _ in table.columns]
    spread = [
        strictness if pools[column.pool].required or random.random() < 0.8 else random.choice((0.0, 0.5))
        for column in table.columns
    ]
    seen: list[set[Row]] = [set() for _ in table.keys]
    made: list[list[str]] = []
    for _ in range(count):
        row = [
            _value(random, pools[column.pool], focused[column.pool], nulls[place], spread[place])
            for place, column in enumerate(table.columns)
        ]
        if made and random.random() < 0.25:
            row = _nearly(random, random.choice(made), row)
        if _place_keys(random, table, pools, seen, row):
            made.append(row)
    yield from map(tuple, made)


def _value(random: Random, pool: Pool, focus: tuple[str, ...], absent: float, strictness: float) -> str:
    if random.random() < absent:
        return NULL
    return random.choice(focus) if random.random() < strictness else _early(random, pool)


def _early(random: Random, pool: Pool) -> str:
    """A value: those that stand first more often."""
    return pool.values[int(len(pool.values) * random.random() ** 1.5)]


def _nearly(random: Random, before: list[str], fresh: list[str]) -> list[str]:
    """A row that is another one but for a few columns."""
    kept = random.choice((1.0, 0.85, 0.6))
    return [old if random.random() < kept else new for old, new in zip(before, fresh, strict=True)]


def _place_keys(
    random: Random, table: InputTable, pools: Mapping[str, Pool], seen: list[set[Row]], row: list[str]
) -> bool:
    """Give a row keys that no other row has; whether there is one."""
    for key, known in zip(table.keys, seen, strict=True):
        for _ in range(8):
            found = tuple(row[place] for place in key.places)
            if NULL in found:
                if not key.is_complete:
                    break
            elif found not in known:
                break
            place = random.choice(key.places)
            row[place] = _early(random, pools[table.columns[place].pool])
        else:
            return False
    for key, known in zip(table.keys, seen, strict=True):
        found = tuple(row[place] for place in key.places)
        if key.is_complete if NULL in found else found in known:
            return False
    for key, known in zip(table.keys, seen, strict=True):
        known.add(tuple(row[place] for place in key.places))
    return True


def shuffled(database: Database, seed: str) -> Database:
    """The same rows in another order."""
    random = Random(f"{seed}{database.number}order")
    return Database(database.number, tuple(tuple(random.sample(rows, len(rows))) for rows in database.rows))


def mutated(
    database: Database, number: int, tables: Sequence[InputTable], pools: Mapping[str, Pool], seed: str
) -> Database:
    """A database that differs from another one in a few values and rows."""
    random = Random(f"{seed}{number}mutated")
    changed = []
    for table, rows in zip(tables, database.rows, strict=True):
        listed = [list(row) for row in rows]
        for _ in range(random.choice((0, 1, 2, 3, 5, 8))):
            _mutate(random, table, pools, listed)
        changed.append(tuple(_with_keys(table, listed)))
    return Database(number, tuple(changed))


def _mutate(random: Random, table: InputTable, pools: Mapping[str, Pool], rows: list[list[str]]) -> None:
    if not rows or random.random() < 0.1:
        return
    place = random.randrange(len(rows))
    choice = random.random()
    if choice < 0.15:
        del rows[place]
    elif choice < 0.4:
        rows.append(list(rows[place]))
        place = len(rows) - 1
    if not rows or (choice >= 0.15 and choice < 0.25):
        return
    place = min(place, len(rows) - 1)
    column = random.randrange(len(table.columns))
    absent = 0.3 if random.random() < 0.6 else 0.0
    rows[place][column] = NULL if random.random() < absent else _early(random, pools[table.columns[column].pool])


def _with_keys(table: InputTable, rows: list[list[str]]) -> Iterator[Row]:
    """The rows that are left where keys hold."""
    seen: list[set[Row]] = [set() for _ in table.keys]
    for row in rows:
        found = [tuple(row[place] for place in key.places) for key in table.keys]
        if any(one in known for one, known in zip(found, seen, strict=True) if NULL not in one):
            continue
        if any(key.is_complete and NULL in one for key, one in zip(table.keys, found, strict=True)):
            continue
        for one, known in zip(found, seen, strict=True):
            known.add(one)
        yield tuple(row)
