"""The text of explained plans: what is read of it exactly, and that hostile literals and names invent no source."""

import pytest

from whence_client.lineage.columns import Dataset
from whence_client.spark.connect.explanation import is_truncated, read_explanation
from whence_client.spark.plan.lineage import Lineage, read_lineage
from whence_client.spark.plan.relations import Context

LEAF = "Relation [id#1L,amount#2,status#3,odd, (name#4] parquet"
ORDERS = Dataset("file", "/orders")


def explain(plan: str, physical: str = "") -> str:
    """An explanation as Spark writes it."""
    return f"== Parsed Logical Plan ==\n'x\n\n== Analyzed Logical Plan ==\n{plan}\n\n== Physical Plan ==\n{physical}\n"


def lineage(*lines: str) -> Lineage:
    """The lineage of a plan whose lines are below each other, over the leaf."""
    indented = [f"{'   ' * (depth - 1)}+- {line}" if depth else line for depth, line in enumerate((*lines, LEAF))]
    return read_lineage(read_explanation(explain("\n".join(indented))).plan, (), Context({1: (ORDERS,)}))


def sources(found: Lineage, name: str) -> "tuple[set[str], set[str]]":
    """The DIRECT and the INDIRECT sources of a column."""
    column = found.columns[name]
    return {one.source.field for one in column.direct}, {one.source.field for one in column.indirect}


@pytest.mark.parametrize(
    ("expression", "direct", "indirect"),
    [
        ("CASE WHEN (status#3 = paid) THEN amount#2 ELSE 0.0 END", {"amount"}, {"status"}),
        ("CASE WHEN (status#3 = a) THEN CASE WHEN (id#1L > 2) THEN amount#2 END END", {"amount"}, {"status", "id"}),
        ("if ((status#3 = paid)) amount#2 else id#1L", {"amount", "id"}, {"status"}),
        ("coalesce(amount#2, cast(status#3 as double))", {"amount", "status"}, {"amount"}),
        ("sum(amount#2) FILTER (WHERE (status#3 = paid))", {"amount"}, {"status"}),
        ("rank(amount#2) windowspecdefinition(id#1L, amount#2 ASC NULLS FIRST, x)", set(), {"id", "amount"}),
        ("(amount#2 * cast(2 as double))", {"amount"}, set()),
        ("concat_ws((, status#3, :), cast(id#1L as string))", {"status", "id"}, set()),
        ("concat(amount#9, status#3)", {"status"}, set()),
        ("concat(not a column#2, status#3)", {"status"}, set()),
        ("cast(odd, (name#4 as bigint)", {"odd, (name"}, set()),
        ("status#3 IN (a,b)", {"status"}, set()),
    ],
)
def test_what_flows_into_a_value_and_what_decides_it(expression: str, direct: "set[str]", indirect: "set[str]") -> None:
    assert sources(lineage(f"Project [{expression} AS out#20]"), "out") == (direct, indirect)


def test_a_name_may_have_any_character() -> None:
    found = lineage("Project [amount#2 AS a, b AS (c)#20, odd, (name#4, status#3 AS s#21]")
    assert list(found.columns) == ["a, b AS (c)", "odd, (name", "s"]
    assert sources(found, "a, b AS (c)") == ({"amount"}, set())
    assert sources(found, "odd, (name") == ({"odd, (name"}, set())


def test_a_line_break_in_a_literal_does_not_end_an_operator() -> None:
    found = lineage("Project [concat(first\n+ second, status#3) AS s#20]", "Filter (amount#2 > 1)")
    assert sources(found, "s") == ({"status"}, set())
    assert {one.source.field for one in found.influences.edges} == {"amount"}


WINDOW = (
    "Window [rank(amount#2) windowspecdefinition(status#3, amount#2 ASC NULLS FIRST, x) AS rk#20], [status#3]"
    ", [amount#2 ASC NULLS FIRST]"
)


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (("GlobalLimit 5", "LocalLimit 5", "Project [id#1L, rk#20]", WINDOW), {"status", "amount"}),
        (
            ("GlobalLimit 5", "LocalLimit 5", "SubqueryAlias v", "Filter (id#1L > 2)", WINDOW),
            {"id", "status", "amount"},
        ),
        (("GlobalLimit 5", "LocalLimit 5", "Sort [id#1L ASC NULLS FIRST], true", WINDOW), {"id"}),
        (("GlobalLimit 5", "LocalLimit 5", "Filter (id#1L > 2)"), {"id"}),
        (("Project [id#1L, rk#20]", WINDOW), set()),
    ],
)
def test_a_limit_takes_the_first_rows_in_the_order_of_windows(lines: "tuple[str, ...]", rows: "set[str]") -> None:
    assert {one.source.field for one in lineage(*lines).influences.edges} == rows


def test_a_python_function_is_announced_by_the_id_of_its_result() -> None:
    found = lineage("Project [<lambda>(amount#2, status#3)#19 AS out#20]")
    assert sources(found, "out") == ({"amount", "status"}, set())
    assert found.columns["out"].reasons == {"opaque_function"}


@pytest.mark.parametrize(
    "text", ["Project [odd", "Project [upper(status#3)]", "[x]", "Project [id#1L AS [c#20, id#1L AS d#21]"]
)
def test_a_text_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="plan"):
        lineage(text)


def test_a_command_is_told_from_its_query() -> None:
    plan = "CreateDataSourceTableAsSelectCommand `spark_catalog`.`shop`.`t`, ErrorIfExists, [id]\n   +- Project [id#1L]"
    found = read_explanation(explain(f"{plan}\n      +- {LEAF}"))
    assert (found.command, len(found.plan)) == ("CreateDataSourceTableAsSelectCommand", 2)
    assert found.arguments.startswith("`spark_catalog`.`shop`.`t`")


def test_scans_have_the_paths_of_attributes_and_the_header_has_types() -> None:
    scan = "FileScan parquet [id#1L] Batched: true, Location: InMemoryFileIndex(2 paths)[file:/a b, file:/c], X: y"
    text = explain("id: bigint, m, : map<string, id: int>\nRelation [id#1L,m, #2] parquet", scan)
    found = read_explanation(text)
    assert found.locations == {1: ("file:/a b", "file:/c")}
    assert found.schema == (("id", "bigint"), ("m, ", "map<string, id: int>"))


def test_a_plan_must_have_the_columns_of_its_header() -> None:
    with pytest.raises(ValueError, match="header"):
        read_explanation(explain(f"id: bigint, other: string\nProject [id#1L]\n+- {LEAF}"))


def test_what_the_server_leaves_out_is_noticed() -> None:
    assert is_truncated("Project [a#1, ... 12 more fields]")
    assert is_truncated(
        "FileScan x [a#1] Format: P, Location: InMemoryFileIndex(1 paths)[file:/a/..., Pushed: [], R: s"
    )
    assert not is_truncated("FileScan x [a#1] Location: InMemoryFileIndex(1 paths)[file:/a], ReadSchema: struct<a:...")
