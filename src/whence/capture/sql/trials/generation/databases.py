"""Generated databases: rows for the tables that queries read, made of the values that matter to these queries."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final

from whence.capture.sql.trials.generation.rows import RowMaker, add_keys
from whence.capture.sql.trials.generation.tables import NULL, Database, InputTable, Pool, Row

_SIZES: Final = (3, 6, 1, 8, 12, 2, 5, 10, 4, 12, 7, 30, 9)
_SPARSE: Final = (4, 7, 10)
"""Groups of a database with about one row in each."""
_NEARNESS: Final = (0.0, 0.2, 0.4, 0.8)
_BARENESS: Final = (0.0, 0.0, 0.1, 0.3)


def make_database(number: int, tables: Sequence[InputTable], pools: Mapping[str, Pool], seed: str) -> Database:
    """The database of a number: the same for the same seed. The first ones have empty tables."""
    random = Random(f"{seed}{number}")
    if number == 0:
        return Database(0, ((),) * len(tables))
    is_strict = number % 3 != 0
    is_deep = number % 4 == 3
    groups = 1 if is_deep else random.choice(_SPARSE) if number % 5 == 2 else 0
    focused = {
        name: _focus(random, pool, is_strict and random.random() < 0.9, is_deep, groups) for name, pool in pools.items()
    }
    focused |= _as_texts(random, pools, focused)
    absent = random.choice((0.0, 0.1, 0.1, 0.25, 0.25, 0.5))
    strictness = random.choice((0.5, 0.8, 0.9, 1.0) if not is_strict else (0.8, 0.9, 0.95))
    size = 12 if is_deep else _SIZES[number % len(_SIZES)]
    if is_deep:
        absent, strictness = random.choice((0.0, 0.1)), 0.95
    emptied = number - 1 if number <= min(len(tables), 4) and len(tables) > 1 else None
    shares = random.choice(_NEARNESS), random.choice(_BARENESS)
    maker = RowMaker(random, pools, focused, absent, strictness, *shares)
    rows: dict[int, tuple[Row, ...]] = {}
    places = list(range(len(tables)))
    random.shuffle(places)
    for place in places:
        is_empty = place == emptied or (len(tables) > 1 and random.random() < 0.05)
        count = 0 if is_empty else max(1, size + random.choice((-2, -1, 0, 0, 1, 2)))
        rows[place] = tuple(maker.rows(tables[place], count))
    return Database(number, tuple(rows[place] for place in range(len(tables))))


def _focus(random: Random, pool: Pool, is_strict: bool, is_deep: bool, groups: int) -> tuple[str, ...]:
    """The few values that most rows of a database have: such that a random choice of the conditions holds.

    `groups`: how many values there are by which rows are grouped, if that is not left to chance.
    """
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
        count = 8
        if random.random() < 0.5:
            places.sort()
    count = groups if groups and pool.is_grouping else count
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


def shuffled(database: Database, seed: str) -> Database:
    """The same rows in another order."""
    random = Random(f"{seed}{database.number}order")
    return Database(database.number, tuple(tuple(random.sample(rows, len(rows))) for rows in database.rows))


def mutated(
    database: Database,
    number: int,
    tables: Sequence[InputTable],
    pools: Mapping[str, Pool],
    seed: str,
    names: frozenset[str] | None = None,
) -> Database:
    """A database that differs from another one in a few values and rows; `names`: in these columns above all."""
    random = Random(f"{seed}{number}mutated")
    maker = RowMaker(random, pools)
    for table, rows in zip(tables, database.rows, strict=True):
        for row in rows:
            maker.remember(table, row)
    changed = []
    for table, rows in zip(tables, database.rows, strict=True):
        listed = [list(row) for row in rows]
        wanted = {column.name.lower() for column in table.columns if names is None or column.name.lower() in names}
        for _ in range(random.choice((0, 1, 2, 3, 5, 8)) if wanted else random.choice((0, 0, 1))):
            aimed = frozenset(wanted) if wanted and random.random() < 0.8 else None
            _mutate(maker, table, listed, aimed)
        changed.append(tuple(_with_keys(table, listed)))
    return Database(number, tuple(changed))


def _mutate(maker: RowMaker, table: InputTable, rows: list[list[str]], names: frozenset[str] | None) -> None:
    random = maker.random
    if not rows or random.random() < 0.1:
        return
    place = random.randrange(len(rows))
    choice = random.random()
    if choice < 0.1:
        del rows[place]
        return
    if choice < 0.4:
        rows.append(list(rows[place]))
        place = len(rows) - 1
    if 0.1 <= choice < 0.2:
        return
    kind = random.random()
    if kind < 0.05:
        maker.bare(table, rows[place])
        return
    if kind < 0.3:
        maker.relate(table, rows[place])
        return
    if kind < 0.6:
        maker.move(table, rows[place], names)
        return
    columns = [n for n, one in enumerate(table.columns) if names is None or one.name.lower() in names]
    column = random.choice(columns)
    absent = 0.3 if random.random() < 0.6 else 0.0
    rows[place][column] = NULL if random.random() < absent else maker.early(maker.pools[table.columns[column].pool])


def _with_keys(table: InputTable, rows: list[list[str]]) -> Iterator[Row]:
    """The rows that are left where keys hold."""
    seen: list[set[Row]] = [set() for _ in table.keys]
    yield from (tuple(row) for row in rows if add_keys(table, seen, row))
