"""Golden pairs: two versions of a query, and what changes for its readers."""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from whence.capture.sql import Catalog, Table
from whence.capture.sql.fingerprint.comparison import compare_targets
from whence.capture.sql.fingerprint.targets import Target, read_targets
from whence.capture.sql.lineage import Budget
from whence.capture.sql.provenance.formulas import Formulas

COLUMNS = {"t": ("id", "a", "b", "c", "k"), "u": ("id", "a", "x", "k"), "v": ("id", "y", "k")}
CATALOG = Catalog.from_columns(COLUMNS, "duckdb")


class Pair(NamedTuple):
    name: str
    before: str
    after: str
    changes: list[str]


def pairs() -> list[Pair]:
    blocks = (Path(__file__).parent / "pairs.txt").read_text("utf-8").split("\n\n")
    lines = [block.strip().splitlines() for block in blocks]
    return [Pair(one[0].removeprefix("-- "), one[1], one[2], one[3:]) for one in lines if one[0].startswith("--")]


def targets_of(text: str, store: Formulas) -> dict[Table, list[Target]]:
    """The targets by table, without temporary ones: what is left of a script for its readers."""
    found = defaultdict[Table, list[Target]](list)
    for target in read_targets(text, "duckdb", store, CATALOG).targets:
        if not target.text.startswith("create temp"):
            found[target.table].append(target)
    return found


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.name)
def test_the_changes_of_a_pair(pair: Pair) -> None:
    store = Formulas()
    before, after = (targets_of(text, store) for text in (pair.before, pair.after))
    assert before.keys() == after.keys()
    changes = [change for table in before for change in compare_targets(before[table], after[table])]
    assert sorted(f"{one.kind} {one.column or ''}".strip() for one in changes) == sorted(pair.changes)
    assert all(one.reason and one.line for one in changes)


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.name)
def test_a_version_is_equal_to_itself_with_comments_and_blanks(pair: Pair) -> None:
    store = Formulas()
    for text in (pair.before, pair.after):
        spaced = "/* a comment */\n" + text.replace(", ", " ,\n ") + " -- another\n"
        if "random" in text or "tablesample" in text:
            continue
        before, after = targets_of(text, store), targets_of(spaced, store)
        assert [change for table in before for change in compare_targets(before[table], after[table])] == []


def test_fifty_queries_that_use_a_column_twice_stay_linear() -> None:
    """The formula written out doubles with each link. Its parts are counted, not the seconds."""

    def parts(links: int, body: str) -> int:
        store = Formulas()
        chain = ["q0 as (select id, a, k from t)"]
        chain += [f"q{link} as ({body.format(link - 1)})" for link in range(1, links + 1)]
        read_targets(
            f"with {', '.join(chain)} select a from q{links}", "duckdb", store, CATALOG, budget=Budget(seconds=120)
        )
        return len(store)

    bodies = (
        "select id, a + a * 2 as a, k from q{}",
        "select id, sum(a) + max(a) as a, k from q{} group by id, k",
        "select max(id) as id, sum(a) + avg(a) as a, k from q{} group by k",
        "select p.id, p.a + q.a as a, p.k from q{0} p join q{0} q on p.id = q.k",
        "select id, a + a as a, k from q{0} union all select id, a, k from q{0}",
        "select id, a - a as a, k from q{}",
        "select id, a || a as a, k from q{}",
        "select id, coalesce(a, k) * coalesce(a, 0) as a, k from q{}",
    )
    for body in bodies:
        sizes = [parts(links, body) for links in (30, 40, 50)]
        assert sizes[0] < sizes[1], "a query that is too much to read has few parts"
        assert sizes[2] - sizes[1] <= (sizes[1] - sizes[0]) * 1.2, (body, sizes)
