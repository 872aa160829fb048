"""Both versions of a query are executed: what is the same passes as not confirmed, what differs has an example."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.capture.sql.trials import comparison
from whence.capture.sql.trials.refinement import try_changes
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName

ORDERS = {"id": "INTEGER", "status": "VARCHAR", "amount": "DECIMAL(8,2)", "day": "DATE", "customer": "INTEGER"}
SCANS = {"parcel": "INTEGER", "seen": "TIMESTAMP", "note": "VARCHAR", "weight": "DECIMAL(8,2)"}
TYPES = {"orders": ORDERS, "customers": {"id": "INTEGER", "country": "VARCHAR"}, "scans": SCANS}


def project(*models: str, types: Mapping[str, Mapping[str, str]] = TYPES, dialect: str = "duckdb") -> ProjectCode:
    """Models `m0`, `m1`, … on orders and customers."""
    codes = tuple(
        Code(file=f"m{n}.sql", sql=sql, content=sql, builds=DatasetName("duckdb", f"m{n}"), table=f"m{n}")
        for n, sql in enumerate(models)
    )
    columns = {table: tuple(names) for table, names in TYPES.items()}
    return ProjectCode(dialect=dialect, namespace="duckdb", codes=codes, columns=columns, types=types)


def tried(base: ProjectCode, head: ProjectCode) -> list[ColumnChange]:
    """The changes that the fingerprint names, tried."""
    changes = [one for one in compare_projects(base, head) if not one.kind.is_harmless]
    assert changes
    return list(try_changes(changes, base, head))


def texts(found: list[ColumnChange]) -> str:
    return "; ".join(one.trial.text for one in found if one.trial is not None)


SAME = [
    (
        "SELECT id, CASE WHEN amount > 0 THEN 'in' WHEN amount < 0 THEN 'out' ELSE 'none' END AS way FROM orders",
        "SELECT id, coalesce(['out', 'none', 'in'][2 + sign(amount)], 'none') AS way FROM orders",
    ),
    (
        "SELECT status, count(*) AS n FROM orders WHERE day >= DATE '2024-02-01' GROUP BY status",
        "SELECT status, sum(1)::BIGINT AS n FROM orders WHERE NOT coalesce(day < DATE '2024-02-01', true) GROUP BY 1",
    ),
]
MISSES = [
    (SAME[0][0], SAME[0][1].replace(", 'none')", ", 'in')"), "amount NULL"),
    (SAME[1][0], SAME[1][1].replace(", true", ", false"), "day NULL"),
    (SAME[1][0], SAME[1][0].replace(">=", ">"), "2024-02-01"),
]


GAPS = """SELECT parcel, count(*) FILTER (seen - previous > INTERVAL 30 MINUTE) AS gaps
FROM (SELECT parcel, seen, lag(seen) OVER (PARTITION BY parcel ORDER BY seen) AS previous FROM scans) GROUP BY parcel"""
RANKS = "SELECT parcel, seen, rank() OVER (PARTITION BY parcel ORDER BY date_trunc('hour', seen)) AS n FROM scans"
TOLERANCE = """SELECT o.id, abs(o.total - s.total) <= 0.05 AS is_equal
FROM (SELECT id, sum(amount) AS total FROM orders GROUP BY id) o
JOIN (SELECT parcel, sum(weight) AS total FROM scans GROUP BY parcel) s ON s.parcel = o.id"""
NEAR_MISSES = {
    "a gap of exactly so long": (GAPS, "> INTERVAL 30 MINUTE", ">= INTERVAL 30 MINUTE"),
    "a rank by another unit of time": (RANKS, "'hour'", "'minute'"),
    "a sum just at the tolerance": (TOLERANCE, "<= 0.05", "< 0.05"),
    "letters in another case": (
        "SELECT parcel, note = 'Left' AS is_left FROM scans",
        "note =",
        "replace(note, 'l', 'L') =",
    ),
    "a space at the end": ("SELECT parcel FROM scans WHERE note <> 'left'", "note <>", "rtrim(note) <>"),
    "halves rounded before": (
        "SELECT parcel, round(sum(weight), 0) AS w FROM scans GROUP BY parcel",
        "round(sum(weight), 0)",
        "round(sum(round(weight, 1)), 0)",
    ),
    "midnight of the next day": (
        "SELECT count(*) AS n FROM scans WHERE seen::DATE BETWEEN '2025-01-01' AND '2025-01-31'",
        "seen::DATE BETWEEN '2025-01-01' AND '2025-01-31'",
        "seen BETWEEN TIMESTAMP '2025-01-01' AND TIMESTAMP '2025-02-01'",
    ),
}


@pytest.fixture(autouse=True)
def few_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for such small queries."""
    monkeypatch.setattr(comparison, "DATABASES", 40)
    monkeypatch.setattr(comparison, "MORE_DATABASES", 80)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_versions_without_a_difference_are_not_confirmed(one: str, other: str) -> None:
    found = tried(project(one), project(other))
    assert {one.kind for one in found} == {ChangeKind.NOT_CONFIRMED}, texts(found)
    assert texts(found).startswith("no difference was found on ")


@pytest.mark.parametrize(("one", "other", "value"), MISSES)
def test_a_near_miss_is_confirmed_with_the_smallest_example(one: str, other: str, value: str) -> None:
    found = tried(project(one), project(other))
    assert ChangeKind.NOT_CONFIRMED not in {change.kind for change in found}
    trial = found[0].trial
    assert trial is not None
    assert value in trial.text
    assert sum(len(table.rows) for table in trial.inputs) <= 2, trial
    assert trial.before != trial.after


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_a_near_miss_that_few_rows_show_is_found(name: str) -> None:
    base, old, new = NEAR_MISSES[name]
    assert old in base
    found = tried(project(base), project(base.replace(old, new)))
    assert ChangeKind.NOT_CONFIRMED not in {change.kind for change in found}
    assert "for example: " in texts(found)


def test_the_same_versions_have_the_same_example() -> None:
    one, other, _ = MISSES[0]
    assert tried(project(one), project(other)) == tried(project(one), project(other))


def test_of_the_named_columns_only_those_that_differ_are_confirmed() -> None:
    base = "SELECT abs(id) AS size, upper(status) AS status FROM orders"
    head = "SELECT greatest(id, -id) AS size, lower(status) AS status FROM orders"
    found = {one.column: one.kind for one in tried(project(base), project(head))}
    assert found == {"size": ChangeKind.NOT_CONFIRMED, "status": ChangeKind.VALUES}


def test_logic_that_moves_between_models_is_executed_in_their_order() -> None:
    size = "CASE WHEN amount > 7 THEN 'big' ELSE 'small' END AS size"
    base = project("SELECT id, amount FROM orders WHERE amount > 5", f"SELECT id, {size} FROM m0")
    moved = "SELECT id, ['small', 'big'][1 + (amount > 7)::INTEGER] AS size FROM m0 WHERE amount > 5"
    head = project("SELECT id, amount FROM orders", moved)
    kinds = {one.dataset.name: one.kind for one in tried(base, head)}
    assert kinds == {"m0": ChangeKind.ROWS, "m1": ChangeKind.NOT_CONFIRMED}


def test_a_small_change_that_no_database_shows_stays_a_change() -> None:
    """It is one of the mistakes that the databases must show, whatever the rest of the query hides."""
    base = "SELECT id FROM orders WHERE id > 5 AND id * id > 36"
    found = tried(project(base), project(base.replace("id > 5", "id >= 5")))
    assert {one.kind for one in found} == {ChangeKind.ROWS}
    assert "no database shows id > 5 as id >= 5" in texts(found)


SPANS = """SELECT customer, CASE WHEN last > first THEN 'long' ELSE 'short' END AS span FROM (
SELECT customer, min(day) AS first, max(day) AS last FROM orders WHERE day IS NOT NULL GROUP BY customer)"""


def test_a_small_change_for_null_need_not_show_where_null_never_stands() -> None:
    head = SPANS.replace(
        "CASE WHEN last > first THEN 'long' ELSE 'short' END", "['short', 'long'][1 + (first < last)::INTEGER]"
    )
    found = tried(project(SPANS), project(head))
    assert {one.kind for one in found} == {ChangeKind.NOT_CONFIRMED}, texts(found)


def test_a_small_change_for_null_is_found_where_null_stands() -> None:
    base = SPANS.replace(" WHERE day IS NOT NULL", "")
    found = tried(project(base), project(base.replace("last > first", "coalesce(NOT first >= last, true)")))
    assert ChangeKind.NOT_CONFIRMED not in {one.kind for one in found}


def test_other_ties_stay_a_change() -> None:
    base = "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY day, id) AS n FROM orders"
    head = "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY day) AS n FROM orders"
    assert [one.kind for one in tried(project(base), project(head))] == [ChangeKind.VALUES]


UNTRIED = [
    ("SELECT id, amount + random() AS x FROM orders", "SELECT id, random() + abs(amount) AS x FROM orders", {}, "rand"),
    ("SELECT 1 FROM orders WHERE day < current_date", "SELECT 1 FROM orders WHERE day <= current_date", {}, "current"),
    ("SELECT id FROM orders WHERE 1 = 0", "SELECT id FROM orders WHERE id <> id", {}, "rows on 0 of"),
    (SAME[1][0], SAME[1][1], {"dialect": "mysql"}, "dialect of mysql"),
    (SAME[1][0], SAME[1][1], {"types": {}}, "types of the columns of orders are not known"),
    ("SELECT id FROM orders, '/etc/passwd'", "SELECT id + 0 AS id FROM orders, '/etc/passwd'", {}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "more", "why"), UNTRIED)
def test_what_is_not_executed_faithfully_keeps_its_class(
    one: str, other: str, more: Mapping[str, Any], why: str
) -> None:
    found = tried(project(one, **more), project(other, **more))
    assert ChangeKind.NOT_CONFIRMED not in {change.kind for change in found}
    assert "not tried: " in texts(found)
    assert why in texts(found)


def test_a_key_that_both_versions_declare_is_honoured() -> None:
    sqls = (
        "SELECT DISTINCT id, upper(country) AS c FROM customers",
        "SELECT id, upper(country) || '' AS c FROM customers",
    )
    assert {one.kind for one in tried(*map(project, sqls))} == {ChangeKind.ROWS}
    keys = {"customers": (UniqueKey(columns=("id",), is_complete=True),)}
    one, other = (replace(project(sql), keys=keys) for sql in sqls)
    assert {change.kind for change in tried(one, other)} == {ChangeKind.NOT_CONFIRMED}
    assert {change.kind for change in tried(one, project(sqls[1]))} == {ChangeKind.ROWS}


FOREIGN = [
    (
        "SELECT status, count(*) AS n FROM orders WHERE id >= 2 GROUP BY status",
        "id >= 2",
        "id * id >= 4 AND id > 0",
        "",
    ),
    ("SELECT id, round(amount, 1) AS r FROM orders WHERE id >= 2", "id >= 2", "id * id >= 4 AND id > 0", ""),
    ("SELECT id FROM orders WHERE id / 2 > 1", "id / 2 > 1", "id > 3", "may not agree"),
]


@pytest.mark.parametrize(("base", "old", "new", "why"), FOREIGN)
def test_another_dialect_is_executed_where_what_differs_means_the_same(base: str, old: str, new: str, why: str) -> None:
    found = tried(project(base, dialect="postgres"), project(base.replace(old, new), dialect="postgres"))
    assert {one.kind is ChangeKind.NOT_CONFIRMED for one in found} == {not why}, texts(found)
    assert why in texts(found)


def test_the_last_digits_of_floating_point_results_are_no_difference() -> None:
    base = "SELECT parcel, avg(weight::DOUBLE) AS mean FROM scans GROUP BY parcel"
    head = base.replace("avg(weight::DOUBLE)", "sum(weight::DOUBLE) / nullif(count(weight), 0)")
    assert {one.kind for one in tried(project(base), project(head))} == {ChangeKind.NOT_CONFIRMED}
    more = head.replace("sum(weight::DOUBLE)", "(sum(weight::DOUBLE) * 1.000000001)")
    assert ChangeKind.NOT_CONFIRMED not in {one.kind for one in tried(project(base), project(more))}


def test_what_the_versions_make_may_be_in_a_schema_of_its_own() -> None:
    """No table that they read is in it, and a view is made by its statement."""
    base, head = (
        replace(project(), codes=(Code(file="daily.sql", sql=sql, content=sql),))
        for sql in (f"CREATE OR REPLACE VIEW mart.daily AS SELECT id, {of} AS a FROM orders" for of in ("id", "id + 1"))
    )
    (change,) = tried(base, head)
    assert change.trial is not None
    assert change.trial.untried == ""
    assert change.trial.before is not None
