"""Spellings that types allow: DuckDB gives the same values of the same types for them, not for their near misses."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random

import duckdb
import pytest

from capture.sql.fingerprint.executed import NOT_EXECUTED, is_executed
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.evaluation import Readings
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.names import DatasetName

COLUMNS = {
    "i": "INTEGER", "k": "INTEGER", "x": "DECIMAL(8,2)", "g": "DOUBLE", "c": "VARCHAR", "f": "BOOLEAN", "d": "DATE",
    "e": "DATE", "s": "TIMESTAMP", "r": "TIMESTAMP", "z": "TIMESTAMPTZ", "j": "JSON",
}  # fmt: skip
TABLES = {"n": COLUMNS, "m": COLUMNS}
_TEXTS = (
    *(None, None, "", " ", "x", "X", "yz", "yx", " yz", "yzx", "z"),
    *("hba1c", "HbA1c", "SIK", "ſıK", "ſik", "7", "2024-01-01"),
)
_DOCUMENTS = (
    *(None, "{}", '{"a": {"b": "x"}, "b": "xy", "l": [1, 2]}'),
    *('{"a": {"b": 7}, "b": null, "l": []}', '{"b": "y"}'),
)
_TIMES = tuple(map(datetime.fromisoformat, ("2024-01-31", "2024-01-31T00:30", "2024-03-31T09:00")))
_MOMENTS = ("2024-03-30 12:00:00+01", "2023-12-31 22:30:00+00", "2023-12-31 23:30:00+00")
_NUMBERS = (None, None, -1, 0, 1, 1, 2, 3, 4)
_FLOATS = (None, -0.0, 0.0, 1.0, 1.5, 2.0, 2.5, float("inf"), float("-inf"), float("nan"))
_DECIMALS = (None, -1, 0, 1, 1.5, 1.75, 2, 2.2, 2.5, 3)


@cache
def databases() -> list[duckdb.DuckDBPyConnection]:
    """Random tables with NULLs, repetitions, ties and odd texts and numbers. One of them is empty now and then."""
    made = []
    for seed in range(20):
        random, connection = Random(seed), duckdb.connect(config={"threads": 1})
        connection.execute("SET TimeZone = 'Europe/Zurich'")
        for table, columns in TABLES.items():
            connection.execute(
                f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})"
            )
            for _ in range(0 if seed % 7 == 6 and table == "m" else random.randint(4, 16)):
                row = [_value(random, kind) for kind in columns.values()]
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        made.append(connection)
    return made


def _value(random: Random, kind: str) -> object:
    day = date(2023, 12, 30) + timedelta(days=random.choice((0, 1, 2, 3, 32, 33, 60, 61, 62, 93, 94)))
    time = datetime(2024, 1, 31) + timedelta(minutes=30 * random.randint(-2_000, 2_000))
    match kind:
        case "INTEGER":
            return random.choice(_NUMBERS)
        case "DOUBLE":
            return random.choice(_FLOATS)
        case "VARCHAR":
            return random.choice(_TEXTS)
        case "BOOLEAN":
            return random.choice((None, True, False))
        case "DATE":
            return random.choice((None, day, day, day))
        case "TIMESTAMP":
            return random.choice((None, time, *_TIMES))
        case "TIMESTAMPTZ":
            return random.choice((None, f"{time}+00", *_MOMENTS))
        case "JSON":
            return random.choice(_DOCUMENTS)
    return random.choice(_DECIMALS)


def spellings() -> Iterator[tuple[str, str, str, list[str]]]:
    for section in (Path(__file__).parent / "typed_spellings.txt").read_text("utf-8").split("\n== ")[1:]:
        name, one, same, *different = section.strip().split("\n")
        yield name, one, same, different


def results(sql: str) -> list[object]:
    """The types of the columns, and the rows on each database."""
    found: list[object] = []
    for connection in databases():
        cursor = connection.execute(sql)
        found.append(([str(column[1]) for column in cursor.description or ()], Counter(map(repr, cursor.fetchall()))))
    return found


def is_silent(readings: Readings, one: str, other: str) -> bool:
    before, after = (
        ProjectCode(
            dialect="duckdb",
            namespace="duckdb",
            codes=(Code(file="m.sql", sql=sql, content=sql, builds=DatasetName("duckdb", "answer"), table="answer"),),
            columns={table: tuple(columns) for table, columns in TABLES.items()},
            types=TABLES,
        )
        for sql in (one, other)
    )
    return all(change.kind.is_harmless for change in compare_projects(before, after, readings))


def check_by_execution(one: str, same: str, *different: str) -> None:
    """The truth of a case: `make nightly-truths` records that it holds."""
    found = results(one)
    assert found == results(same), (one, same)
    assert all(found != results(miss) for miss in different), (one, different)


@pytest.mark.parametrize(("name", "one", "same", "different"), list(spellings()))
def test_spellings_of_one_meaning_are_silent_and_near_misses_are_not(
    name: str, one: str, same: str, different: list[str]
) -> None:
    assert is_executed(one, same, *different), NOT_EXECUTED
    readings = Readings()
    assert is_silent(readings, one, same), name
    assert is_silent(readings, same, one), name
    assert different, name
    for miss in different:
        assert not is_silent(readings, one, miss), miss
        assert not is_silent(readings, same, miss), miss


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "SELECT x FROM range(TIMESTAMP '2025-01-01 00:00:00-05:00', TIMESTAMP '2025-01-05', INTERVAL 1 DAY) t(x)",
            "SELECT x FROM range(TIMESTAMP '2025-01-01 00:00:00Z', TIMESTAMP '2025-01-05', INTERVAL 1 DAY) t(x)",
        ),
        (
            "SELECT x FROM range(TIMESTAMP '2025-01-01 00:00:00.1234561', TIMESTAMP '2025-01-05', INTERVAL 1 DAY) t(x)",
            "SELECT x FROM range(TIMESTAMP '2025-01-01 00:00:00.1234569', TIMESTAMP '2025-01-05', INTERVAL 1 DAY) t(x)",
        ),
        (
            "SELECT DATE '2025-01-01' + x::INT AS y FROM range(100000000, 100000003) t(x)",
            "SELECT DATE '2025-01-01' + x::INT AS y FROM range(100000000, 100000004) t(x)",
        ),
        (
            "SELECT x FROM generate_series(DATE '9999-12-30', DATE '9999-12-31', INTERVAL 1 DAY) t(x)",
            "SELECT x FROM generate_series(DATE '9999-12-30', DATE '9999-12-30', INTERVAL 1 DAY) t(x)",
        ),
    ],
)
def test_a_series_that_python_cannot_count_is_compared_as_it_is_written(one: str, other: str) -> None:
    assert is_silent(Readings(), one, one)
    assert not is_silent(Readings(), one, other)


def test_groups_of_random_rows_are_never_called_the_same() -> None:
    some = "(SELECT c FROM n WHERE random() < 0.5)"
    sets = f"SELECT c, count(*) AS y FROM {some} GROUP BY GROUPING SETS ((c), ())"
    union = f"SELECT c, count(*) AS y FROM {some} GROUP BY c UNION ALL SELECT NULL, count(*) FROM {some}"
    assert not is_silent(Readings(), sets, union)
