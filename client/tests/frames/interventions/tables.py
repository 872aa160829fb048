"""The inputs of random pipelines: two tables with ties, repeated keys and missing values, and changes of them."""

import datetime
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

ROWS = 24
Table = dict[str, list[Any]]
Tables = dict[str, Table]

_FIRST = datetime.datetime(2026, 1, 1)


def make_tables(seed: int) -> Tables:
    """The tables of a seed."""
    rng = random.Random(seed)
    left = {
        name: [_value(name, rng) for _ in range(ROWS)] for name in ("key", "group", "x", "y", "when", "words", "ok")
    }
    right = {name: [_value(name, rng) for _ in range(5)] for name in ("label", "weight", "since")}
    return {"left": left, "right": {"key": list(range(5)), **right}}


def _value(name: str, rng: random.Random) -> Any:
    made: dict[str, Callable[[], Any]] = {
        "key": lambda: rng.randint(0, 6),
        "group": lambda: rng.choice("abc"),
        "label": lambda: rng.choice("uvw"),
        "x": lambda: rng.choice([None, 1.0, 2.0, 3.0, 5.0]),
        "when": lambda: _FIRST + datetime.timedelta(hours=rng.randint(0, 2000)),
        "since": lambda: _FIRST + datetime.timedelta(hours=rng.randint(0, 2000)),
        "words": lambda: f"{rng.choice('pqr')}-{rng.choice(('one', 'two'))} {rng.randint(1, 30)}",
        "ok": lambda: rng.random() < 0.5,
    }
    return made.get(name, lambda: rng.randint(0, 9))()


def changes_of(tables: Tables, seed: int) -> Iterator[tuple[str, Tables]]:
    """Each column of the inputs, and the inputs with other values of the same kind in it alone."""
    for table, columns in tables.items():
        for column, values in columns.items():
            rng = random.Random(f"{seed} {table} {column}")
            new = [_value(column, rng) for _ in values]
            if (table, column) == ("right", "key"):
                new = rng.sample(range(8), len(values))
            yield f"{table}.{column}", {**tables, table: {**columns, column: new}}


def write_tables(folder: Path, tables: Tables) -> None:
    """Write the inputs as files of Parquet."""
    for name, columns in tables.items():
        frame = pl.DataFrame(columns, strict=False)
        frame.write_parquet(folder / f"{name}.parquet")
