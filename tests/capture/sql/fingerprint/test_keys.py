"""Keys that a project declares, first rows of groups, and sources that are joined with themselves; DuckDB decides.

`keyed_spellings.txt` has spellings that declared keys allow: DuckDB gives the same for them on random tables with these
keys, not for their near misses. Without the keys they are not silent.
"""

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pytest

from whence.capture.sql import Catalog
from whence.capture.sql.fingerprint.comparison import compare_targets
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.capture.sql.fingerprint.targets import read_targets
from whence.capture.sql.provenance.formulas import Formulas
from whence.model.names import DatasetName

COLUMNS = {"o": ("id", "sku", "day"), "p": ("sku", "cost", "active")}
SKU, COMPLETE = UniqueKey(columns=("sku",)), UniqueKey(columns=("sku",), is_complete=True)
JOINED = "select o.id, o.day, p.cost from o left join p on p.sku = o.sku"


def changes(
    base: str, head: str, before: tuple[UniqueKey, ...] = (), after: tuple[UniqueKey, ...] | None = None
) -> list[str]:
    def project(sql: str, keys: tuple[UniqueKey, ...]) -> ProjectCode:
        code = Code(file="m.sql", sql=sql, content=sql, builds=DatasetName("d", "m"), table="m", parents=("o", "p"))
        return ProjectCode(dialect="duckdb", namespace="d", codes=(code,), columns=COLUMNS, keys={"p": keys})

    found = compare_projects(project(base, before), project(head, before if after is None else after))
    return [f"{one.kind} {one.column or ''}".strip() for one in found]


def test_a_join_on_a_declared_key_reaches_the_columns_that_it_gives() -> None:
    head = JOINED + " and p.active"
    assert changes(JOINED, head) == ["rows"]
    assert changes(JOINED, head, (SKU,)) == ["values cost"]


def test_a_join_on_a_part_of_a_key_may_repeat_rows() -> None:
    whole = UniqueKey(columns=("sku", "cost"))
    assert changes(JOINED, JOINED + " and p.active", (whole,)) == ["rows"]
    both = JOINED + " and p.cost = o.day"
    assert changes(both, both + " and p.active", (whole,)) == ["values cost"]


def test_a_head_does_not_vouch_for_itself() -> None:
    assert changes(JOINED, JOINED + " and p.active", (), (SKU,)) == ["rows"]
    assert changes(JOINED, JOINED + " and p.active", (SKU,), ()) == ["rows"]


def test_rows_with_a_whole_key_are_distinct_and_those_of_a_key_with_nulls_are_not() -> None:
    base, head = "select sku, cost from p", "select distinct sku, cost from p"
    assert changes(base, head, (COMPLETE,)) == []
    assert changes(base, head, (SKU,)) == ["rows"]
    assert changes("select cost from p", "select distinct cost from p", (COMPLETE,)) == ["rows"]


def queries(rng: random.Random) -> Iterator[str]:
    """One query, and edits of it."""
    form = rng.choice(["on", "number", "self"])
    for _ in range(3):
        key = rng.choice(["k", "c"])
        order = ", ".join([*rng.sample(["a", "b desc", "c"], rng.randrange(3)), "id"])
        where = rng.choice(["", "where a > 1", "where b is not null"])
        value = rng.choice(["a", "b", "a + 1", "coalesce(b, 0)"])
        match form:
            case "on":
                yield f"select distinct on ({key}) {key} as g, {value} as v, id from t {where} order by {key}, {order}"
            case "number":
                number = f"row_number() over (partition by {key} order by {order})"
                inner = f"select *, {number} as n from t {where}"
                yield f"select {key} as g, {value} as v, id from ({inner}) q where n = 1"
            case "self":
                grouped = f"select {key} as g, sum({value}) as v, max(id) as id from t {where} group by {key}"
                on = rng.choice(["x.g = y.g", "x.g = y.g", "x.v = y.v"])
                yield f"with q as ({grouped}) select x.g, y.v, x.id from q x join q y on {on} where x.g is not null"


def rows(query: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for seed in range(6):
        rng = random.Random(seed)
        with duckdb.connect() as connection:
            connection.execute("create table t (id int, k int, c int, a int, b int)")
            made = [(n, *(rng.choice([None, 1, 2, 3]) for _ in range(4))) for n in range(rng.randrange(4, 16))]
            connection.executemany("insert into t values (?, ?, ?, ?, ?)", made)
            found += [(str(seed), *map(str, row)) for row in connection.execute(query).fetchall()]
    return found


@pytest.mark.parametrize("seed", range(24))
def test_no_changed_column_of_a_first_row_or_a_self_join_is_missed(seed: int) -> None:
    base, *heads = queries(random.Random(seed))
    columns = ("g", "v", "id")
    for head in heads:
        store = Formulas()
        catalog = Catalog.from_columns({"t": ("id", "k", "c", "a", "b")}, "duckdb")
        before, after = (read_targets(text, "duckdb", store, catalog).targets for text in (base, head))
        found = [one for one in compare_targets(before, after) if not one.kind.is_harmless]
        claimed = {name for one in found for name in ([one.column] if one.column else columns)}
        old, new = rows(base), rows(head)
        changed = {
            name
            for place, name in enumerate(columns, start=1)
            if Counter((row[0], row[place]) for row in old) != Counter((row[0], row[place]) for row in new)
        }
        assert claimed >= changed, (base, head)
        assert found or Counter(old) == Counter(new), (base, head)


TYPES = {
    "p": {"id": "INTEGER", "k": "INTEGER", "a": "INTEGER", "c": "VARCHAR"},
    "q": {"id": "INTEGER", "k": "INTEGER", "a": "INTEGER"},
    "r": {"k": "INTEGER", "s": "TIMESTAMP", "c": "VARCHAR"},
    "t": {"k": "INTEGER", "a": "INTEGER", "c": "VARCHAR"},
}
DECLARED = {
    "p": (UniqueKey(columns=("id",), is_complete=True),),
    "q": (UniqueKey(columns=("id",)),),
    "r": (UniqueKey(columns=("k", "s"), is_complete=True),),
}
"""The rows of q may lack their key, and then be repeated; t has none."""


def cases() -> Iterator[tuple[str, str, str, list[str]]]:
    for section in (Path(__file__).parent / "keyed_spellings.txt").read_text("utf-8").split("\n== ")[1:]:
        name, one, same, *different = section.strip().split("\n")
        yield name, one, same, different


@cache
def databases() -> list[duckdb.DuckDBPyConnection]:
    """Random tables with NULLs, ties and repetitions where the keys allow them; some are empty."""
    made = []
    for seed in range(12):
        rng, connection = random.Random(seed), duckdb.connect(config={"threads": 1})
        for table, columns in TYPES.items():
            text = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            connection.execute(f"create table {table} ({text})")
            rows = _random_rows(rng, table, 0 if rng.random() < 0.1 else rng.randrange(2, 9))
            for row in rows:
                connection.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
        made.append(connection)
    return made


def _random_rows(rng: random.Random, table: str, number: int) -> list[tuple[object, ...]]:
    def some() -> int | None:
        return rng.choice([None, 0, 1, 2, 3])

    def text() -> str | None:
        return rng.choice([None, "x", "y"])

    match table:
        case "p":
            return [(row, some(), some(), text()) for row in range(number)]
        case "q":
            return [(rng.choice([None, row, row]), some(), some()) for row in range(number)]
        case "r":
            places = rng.sample([(k, day) for k in range(3) for day in range(1, 5)], number)
            return [(k, f"2024-01-0{day}", text()) for k, day in places]
    return [(some(), some(), text()) for _ in range(number)]


def results(sql: str) -> list[Counter[str]]:
    return [Counter(map(repr, connection.execute(sql).fetchall())) for connection in databases()]


def is_silent(one: str, other: str, *, has_keys: bool = True) -> bool:
    def project(sql: str) -> ProjectCode:
        code = Code(file="m.sql", sql=sql, content=sql, builds=DatasetName("duckdb", "answer"), table="answer")
        columns = {table: tuple(names) for table, names in TYPES.items()}
        keys = DECLARED if has_keys else {}
        return ProjectCode(dialect="duckdb", namespace="duckdb", codes=(code,), columns=columns, types=TYPES, keys=keys)

    return all(change.kind.is_harmless for change in compare_projects(project(one), project(other)))


@pytest.mark.parametrize(("name", "one", "same", "different"), list(cases()))
def test_keys_make_spellings_silent_and_no_near_miss(name: str, one: str, same: str, different: list[str]) -> None:
    assert results(one) == results(same), name
    assert is_silent(one, same), name
    assert is_silent(same, one), name
    assert not is_silent(one, same, has_keys=False), name
    assert different, name
    for miss in different:
        assert results(miss) != results(one), miss
        assert not is_silent(one, miss), miss
        assert not is_silent(same, miss), miss
