"""Generated conditions and CASEs: those that get one formula give the same in DuckDB, for NULL, NaN and ties too."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from functools import cache
from random import Random

import pytest

from capture.sql.fingerprint.test_typed_forms import COLUMNS, databases
from whence.capture.sql import Catalog
from whence.capture.sql.fingerprint.targets import Target, read_targets
from whence.capture.sql.provenance.formulas import Formulas

EXPRESSIONS, EXPRESSIONS_LONG, BATCH = 400, 8_000, 400
"""Generated expressions, ordinarily and with `--long`, and how many of them are compared with each other."""
_VALUES = {
    "i": ("0", "1", "2", "3", "k"),
    "k": ("0", "1", "2", "i"),
    "x": ("1", "1.5", "2"),
    "g": ("0", "1.5", "2.0"),
    "c": ("'x'", "'X'", "''", "'yz'"),
    "d": ("DATE '2024-01-31'", "DATE '2024-02-01'", "e", "DATE '9999-12-31'"),
    "s": ("TIMESTAMP '2024-01-31 00:30:00'", "TIMESTAMP '2024-01-31'", "r"),
}
_RESULTS = ("1", "2", "i", "NULL")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "start" in metafunc.fixturenames:
        end = EXPRESSIONS_LONG if metafunc.config.getoption("long") else EXPRESSIONS
        metafunc.parametrize("start", range(0, end, BATCH))


def condition(random: Random, columns: str, depth: int) -> str:
    """A condition of few columns, so that others often mean the same."""
    if depth and random.random() < 0.75:
        parts = [condition(random, columns, depth - 1) for _ in range(2)]
        match random.randrange(6):
            case 0:
                return f"NOT ({parts[0]})"
            case 1:
                return f"coalesce({parts[0]}, {random.choice(('true', 'false'))})"
            case 2:
                return f"({parts[0]}) IS {random.choice(('TRUE', 'NOT TRUE', 'FALSE'))}"
        return f"({parts[0]}) {random.choice(('AND', 'OR'))} ({parts[1]})"
    name = random.choice(columns)
    literal, other = random.sample(_VALUES[name], 2)
    test = random.choice(("=", "<>", "<", "<=", ">", ">=", "<", ">="))
    match random.randrange(7):
        case 0:
            return f"{name} IS NULL"
        case 1:
            return f"coalesce({name}, {other}) {test} {literal}"
        case 2:
            return f"{name} IS DISTINCT FROM {literal}"
        case 3 if name == "c":
            return f"lower(c) {random.choice(('=', '<>'))} 'x'"
        case 4 if name == "c":
            return "NULLIF(c, '') IS NULL"
    return f"{name} {test} {literal}"


def value(random: Random, columns: str) -> str:
    """A CASE, perhaps in another one."""
    branches = [
        f"WHEN {condition(random, columns, random.randrange(2))} THEN {_result(random, columns)}"
        for _ in range(random.randint(1, 2))
    ]
    return f"CASE {' '.join(branches)} ELSE {_result(random, columns)} END"


def computed(random: Random, columns: str) -> str:
    """A number that is computed from a CASE, or a condition as a value."""
    match random.randrange(5):
        case 0:
            return f"{value(random, columns)} + {value(random, columns)}"
        case 1:
            return f"2 - ({value(random, columns)})"
        case 2:
            return f"i * coalesce({value(random, columns)}, {random.choice('012')})"
        case 3:
            return f"coalesce(i + k, i + {random.choice('01')}) + {value(random, columns)}"
    return condition(random, columns, 2)


def _result(random: Random, columns: str) -> str:
    return value(random, columns) if random.random() < 0.1 else random.choice(_RESULTS)


@cache
def catalog() -> Catalog:
    return Catalog.from_columns({"n": tuple(COLUMNS)}, "duckdb")


def read(store: Formulas, sql: str) -> Target:
    store.types.setdefault(store.make("table", "n"), {name: kind.lower() for name, kind in COLUMNS.items()})
    (target,) = read_targets(sql, "duckdb", store, catalog()).targets
    return target


def answers(sql: str) -> list[object]:
    return [sorted(map(repr, connection.execute(sql).fetchall())) for connection in databases()]


def test_conditions_with_one_formula_keep_the_same_rows(start: int) -> None:
    store, groups = Formulas(), defaultdict[Hashable, list[str]](list)
    random = Random(start)
    for _ in range(BATCH):
        text = condition(random, random.choice(("i", "c", "ig", "d", "ic", "xs")), random.choice((1, 2, 2, 3)))
        groups[read(store, f"SELECT rowid AS n FROM n WHERE {text}").rows].append(text)
    check(groups, lambda text: f"SELECT rowid FROM n WHERE {text}")


def test_values_with_one_formula_are_the_same(start: int) -> None:
    store, groups = Formulas(), defaultdict[Hashable, list[str]](list)
    random = Random(start + 1)
    for _ in range(BATCH):
        text = value(random, random.choice(("i", "i", "c", "g", "d")))
        (column,) = read(store, f"SELECT {text} AS y FROM n").columns
        groups[column.formula].append(text)
    check(groups, lambda text: f"SELECT rowid, {text} AS y FROM n")


def test_computed_values_with_one_formula_are_the_same(start: int) -> None:
    store, groups = Formulas(), defaultdict[Hashable, list[str]](list)
    random = Random(start + 2)
    for _ in range(BATCH):
        text = computed(random, random.choice(("i", "i", "ik", "c")))
        (column,) = read(store, f"SELECT {text} AS y FROM n").columns
        groups[column.formula].append(text)
    check(groups, lambda text: f"SELECT rowid, {text} AS y FROM n")


def check(groups: dict[Hashable, list[str]], query: Callable[[str], str]) -> None:
    """Of each group all texts give the same in every database; some groups have several."""
    several = [list(dict.fromkeys(texts)) for texts in groups.values()]
    several = [texts for texts in several if len(texts) > 1]
    assert sum(map(len, several)) > BATCH / 12
    wrong = [
        (texts[0], text)
        for texts in several
        for text, found in zip(texts, map(answers, map(query, texts)), strict=True)
        if found != answers(query(texts[0]))
    ]
    assert wrong == []
