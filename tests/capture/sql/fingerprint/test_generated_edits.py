"""DuckDB as oracle: equal fingerprints mean equal rows, whatever was edited; edits that keep the meaning are silent."""

from collections import Counter
from functools import cache
from random import Random

import duckdb
import pytest
from sqlglot import parse_one

from capture.sql.generated.edits import CHANGING, KEEPING, Edit
from capture.sql.generated.queries import query_of
from capture.sql.generated.query_parts import TABLES
from whence.capture.sql import Catalog
from whence.capture.sql.fingerprint.comparison import compare_targets
from whence.capture.sql.fingerprint.targets import read_targets
from whence.capture.sql.provenance.formulas import Formulas
from whence.model.changes import ChangeKind

QUERIES, QUERIES_LONG, BATCH, DATABASES = 10, 400, 10, 5
"""Generated queries, ordinarily and with `--long`, how many of them a test takes, and the databases that decide."""
CATALOG = Catalog.from_columns(TABLES, "duckdb")
SILENT = 0.97
"""The least share of the edits that keep the meaning and that are silent."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Divide the seeds of the generated queries into batches; plain queries only with `--long`."""
    is_long = metafunc.config.getoption("long")
    if "start" in metafunc.fixturenames:
        metafunc.parametrize("start", range(0, QUERIES_LONG if is_long else QUERIES, BATCH))
    if "deep" in metafunc.fixturenames:
        metafunc.parametrize("deep", (False, True) if is_long else (True,))


@cache
def databases() -> tuple[duckdb.DuckDBPyConnection, ...]:
    return tuple(_database(seed) for seed in range(DATABASES))


def _database(seed: int) -> duckdb.DuckDBPyConnection:
    random, connection = Random(seed), duckdb.connect(config={"threads": 1})
    for table, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(f'{column} INTEGER' for column in columns)})")
        rows = [[random.choice((None, 0, 1, 1, 2, 3)) for _ in columns] for _ in range(random.choice((0, 6, 9)))]
        if rows:
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
    return connection


def answers(sql: str) -> list[Counter[str]]:
    return [Counter(map(repr, connection.execute(sql).fetchall())) for connection in databases()]


def changed_kinds(before: str, after: str) -> set[ChangeKind]:
    store = Formulas()
    old, new = (read_targets(text, "duckdb", store, CATALOG).targets for text in (before, after))
    return {change.kind for change in compare_targets(old, new) if not change.kind.is_harmless}


def edited(seed: int, edit: Edit, deep: bool = False) -> tuple[str, str] | None:
    """A query and its edited version, both as SQLGlot writes them; None if the edit has no place in it."""
    before = parse_one(query_of(seed, deep=deep), read="duckdb")
    after = edit(Random(seed), before.copy())
    texts = (before.sql("duckdb"), after.sql("duckdb")) if after is not None else ("", "")
    return texts if texts[0] != texts[1] else None


def differs(before: str, after: str) -> bool | None:
    """Whether rows or their multiplicity differ on any database; None if a version does not run."""
    try:
        return answers(before) != answers(after)
    except duckdb.Error:
        return None


def test_what_changes_rows_is_never_silent(start: int, deep: bool) -> None:
    seen, missed = 0, []
    for seed in range(start, start + BATCH):
        for edit in CHANGING:
            texts = edited(seed, edit, deep)
            if texts is None or changed_kinds(*texts):
                continue
            if differs(*texts):
                missed.append((edit.__name__, seed, *texts))
        seen += 1
    assert missed == []
    assert seen == BATCH


def test_what_keeps_the_meaning_is_silent(start: int) -> None:
    silent, loud = 0, []
    for seed in range(start, start + BATCH):
        for edit in KEEPING:
            texts = edited(seed, edit)
            if texts is None or differs(*texts) is not False:
                continue
            kinds = changed_kinds(*texts)
            silent += not kinds
            if kinds:
                loud.append((edit.__name__, seed, kinds, *texts))
    assert silent > BATCH
    assert silent / (silent + len(loud)) >= SILENT, loud
