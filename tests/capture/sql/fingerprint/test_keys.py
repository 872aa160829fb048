"""Keys that a project declares, first rows of groups, and sources that are joined with themselves; DuckDB decides."""

import random
from collections import Counter
from collections.abc import Iterator

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
