"""Spellings of Spark that have one normal form, and near misses. Spark's own truth is in the corpus of Spark SQL."""

import pytest

from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.names import DatasetName

VIEW = "SELECT o.id, t.tag FROM orders o LATERAL VIEW {} explode(o.tags) t AS tag {}"
CASES = [
    (VIEW.format("", ""), "SELECT o.id, g.word AS tag FROM orders o, LATERAL explode(o.tags) AS g(word)",
     "SELECT o.id, t.tag FROM orders o, LATERAL explode(o.others) AS t(tag)"),
    (VIEW.format("OUTER", "WHERE t.tag <> ''"), VIEW.format("", "WHERE '' <> t.tag"),
     VIEW.format("OUTER", "WHERE o.status <> ''")),
    (VIEW.format("OUTER", "WHERE o.status = 'x' AND t.tag IS NOT NULL"),
     VIEW.format("", "WHERE t.tag IS NOT NULL AND o.status = 'x'"),
     VIEW.format("", "WHERE o.status = 'x'")),
    (VIEW.format("OUTER", ""), "SELECT o.id, t.tag FROM orders AS o LATERAL VIEW OUTER explode(o.tags) t AS tag",
     VIEW.format("", "")),
    (VIEW.format("OUTER", "WHERE coalesce(t.tag, 'x') <> ''"), VIEW.format("OUTER", "WHERE '' <> coalesce(t.tag, 'x')"),
     VIEW.format("", "WHERE coalesce(t.tag, 'x') <> ''")),
    ("SELECT id, exists(tags, x -> x = 'vip') AS v FROM orders",
     "SELECT id, array_contains(tags, 'vip') AS v FROM orders",
     "SELECT id, exists(tags, x -> x <> 'vip') AS v FROM orders"),
    ("SELECT id, exists(tags, x -> 'vip' = x) AS v FROM orders",
     "SELECT id, exists(tags, y -> y = 'vip') AS v FROM orders",
     "SELECT id, exists(tags, x -> status = 'vip') AS v FROM orders"),
    # Spark's ROLLUP of no rows has no total, which a UNION ALL has.
    ("SELECT status, count(*) AS n FROM orders GROUP BY ROLLUP (status)",
     "SELECT status, count(*) AS n FROM orders GROUP BY GROUPING SETS ((status), ())",
     "SELECT status, count(*) AS n FROM orders GROUP BY status UNION ALL SELECT NULL, count(*) FROM orders"),
    ("SELECT id, status, count(*) AS n FROM orders GROUP BY GROUPING SETS ((id, status), (id))",
     "SELECT id, status, count(*) AS n FROM orders GROUP BY id, status"
     " UNION ALL SELECT id, NULL, count(*) FROM orders GROUP BY id",
     "SELECT id, status, count(*) AS n FROM orders GROUP BY id, status"
     " UNION ALL SELECT NULL, status, count(*) FROM orders GROUP BY status"),
    ("SELECT * FROM (SELECT id, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('x' AS a, 'y' AS b))",
     "SELECT id, sum(CASE WHEN status = 'x' THEN amount END) AS a, sum(amount) FILTER (WHERE status = 'y') AS b"
     " FROM orders GROUP BY id",
     "SELECT id, sum(CASE WHEN status = 'x' THEN amount ELSE 0 END) AS a, sum(amount) FILTER (WHERE status = 'y') AS b"
     " FROM orders GROUP BY id"),
    # Its PIVOT gives NULL for a count of no rows.
    ("SELECT * FROM (SELECT id, status, amount FROM orders) PIVOT (count(amount) FOR status IN ('x' AS a))",
     "SELECT * FROM (SELECT id, status, amount FROM orders) PIVOT (count(amount) FOR status IN ('x' AS a))",
     "SELECT id, count(amount) FILTER (WHERE status = 'x') AS a FROM orders GROUP BY id"),
]  # fmt: skip


def is_silent(one: str, other: str) -> bool:
    before, after = (
        ProjectCode(
            dialect="spark",
            namespace="spark",
            codes=(Code(file="m.sql", sql=sql, content=sql, builds=DatasetName("spark", "m"), table="m"),),
            columns={"orders": ("id", "status", "tags", "others", "amount")},
            types={"orders": {"status": "STRING"}},
        )
        for sql in (one, other)
    )
    return all(change.kind.is_harmless for change in compare_projects(before, after))


@pytest.mark.parametrize(("one", "same", "different"), CASES)
def test_spellings_of_one_meaning_are_silent_and_others_are_not(one: str, same: str, different: str) -> None:
    assert is_silent(one, same)
    assert not is_silent(one, different)
