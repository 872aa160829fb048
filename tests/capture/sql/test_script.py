"""Scripts: statements are found, stand apart, know where they are, and tell the session what comes after them."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from whence.capture.sql import Budget, Catalog, Column, Edge, Table, read_script
from whence.errors import DialectError


def edges(text: str, dialect: str = "duckdb", catalog: Catalog | None = None) -> set[str]:
    return {f"{edge.target} {edge.subtype} {edge.source}" for edge in read_script(text, dialect, catalog).collapsed}


def statuses(text: str, dialect: str = "duckdb") -> list[tuple[str, str]]:
    return [(statement.kind, statement.status) for statement in read_script(text, dialect).statements]


def test_one_bad_statement_loses_no_other() -> None:
    script = read_script("insert into a select x from t;\nSELEC y;\ninsert into b select z from t", "duckdb")
    assert [statement.status for statement in script.statements] == ["parsed", "failed", "parsed"]
    assert script.statements[1].error
    assert {str(edge.target) for edge in script.collapsed} == {"a.x", "b.z"}


def test_a_statement_says_where_it_stands() -> None:
    text = "-- first\nselect 1;\n\n  insert into t select a from s"
    second = read_script(text, "postgres").statements[1]
    assert (second.span.line, second.span.column) == (4, 3)
    assert text[second.span.start : second.span.end] == "insert into t select a from s"


def test_an_unknown_says_where_it_is_written() -> None:
    catalog = Catalog.from_columns({"t": ("a",)}, "duckdb")
    (statement,) = read_script("select a,\n  zz from t", "duckdb", catalog).statements
    (unknown,) = statement.unknowns
    assert (unknown.reason, unknown.name, unknown.span.line, unknown.span.column) == ("column_not_found", "zz", 2, 3)


@pytest.mark.parametrize(
    ("text", "dialect", "count"),
    [
        ("select ';' from t; select 2", "duckdb", 2),
        ("select 1 -- ; not here\n; select 2", "duckdb", 2),
        ("select 1 /* ; /* ; */ ; */; select 2", "postgres", 2),
        ("select $$ ; $$; select $x$ ; $$ ; $x$", "postgres", 2),
        ("select 'it\\'s; one' ; select 2", "mysql", 2),
        ('select "a;b" from t; select 2', "snowflake", 2),
        ("select [a;b] from t; select 2", "tsql", 2),
        ("select 1 # ; no\n; select 2", "mysql", 2),
        (";;; -- nothing\n ;", "duckdb", 0),
        ("select 1\nGO\nselect 2\ngo", "tsql", 2),
        ("select 1 from t\nselect 2 from t\nupdate t set a = 1\ndelete from t", "tsql", 4),
        ("with c as (select 1 as a) select a from c union all select 2", "tsql", 1),
        ("insert into t select a from s insert into u select b from s", "tsql", 2),
    ],
)  # fmt: skip
def test_statements_are_cut_where_they_end(text: str, dialect: str, count: int) -> None:
    assert len(read_script(text, dialect).statements) == count


def test_temporary_tables_fold_away() -> None:
    text = "create temp table x as select a, b from t where c > 0; insert into o select a + b as s from x"
    assert edges(text) == {"o.s TRANSFORMATION t.a", "o.s TRANSFORMATION t.b", "o FILTER t.c"}


def test_a_temporary_table_made_again_does_not_mix() -> None:
    text = (
        "create temp table x as select a from t; create or replace temp table x as select b as a from u; "
        "insert into o select a from x"
    )
    assert edges(text) == {"o.a IDENTITY u.b"}


def test_ddl_of_the_script_is_known_later() -> None:
    script = read_script("create table t (a int, b int); insert into o (a, b) select * from t", "duckdb")
    assert {str(edge.source) for edge in script.collapsed} == {"t.a", "t.b"}
    assert {edge.reason for edge in script.collapsed} == {"DDL of the script"}


def test_use_completes_names() -> None:
    assert edges("use shop; select a from t", "mysql") == {"result.a IDENTITY shop.t.a"}


def test_a_procedure_is_read_statement_by_statement() -> None:
    text = (
        "create procedure p() begin if x > 1 then insert into o select a from t; "
        "else insert into o select b as a from t; end if; end"
    )
    script = read_script(text, "mysql")
    assert {str(edge.source) for edge in script.collapsed} == {"t.a", "t.b"}
    assert all(edge.confidence < 0.8 for edge in script.collapsed)


def test_dynamic_sql_is_read_if_it_is_written_out_and_reported_if_not() -> None:
    assert edges("exec sp_executesql N'insert into o select a from t'", "tsql") == {"o.a IDENTITY t.a"}
    (statement,) = read_script("exec sp_executesql @made", "tsql").statements
    assert [unknown.reason for unknown in statement.unknowns] == ["dynamic_sql"]


def test_a_dialect_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(DialectError, match="snowflake"):
        read_script("select 1", "klingon")


@pytest.mark.parametrize(
    "text",
    [
        "select " + "(" * 10_000 + "1" + ")" * 10_000,
        "select * from " + "(select * from " * 10_000 + "t" + ")" * 10_000,
        "select " + "case when a then " * 10_000 + "1" + " end" * 10_000,
        "select " + "not " * 10_000 + "a",
        "select a" + "[1]" * 10_000,
    ],
    ids=["brackets", "subqueries", "case", "not", "subscripts"],
)
def test_what_nests_too_deep_ends_in_a_failure(text: str) -> None:
    script = read_script(text + "; select a from t", "duckdb")
    assert [statement.status for statement in script.statements] == ["failed", "parsed"]
    assert script.statements[0].error


def test_long_chains_are_read() -> None:
    assert edges("select " + "a + " * 3_000 + "b as x from t") == {
        "result.x TRANSFORMATION t.a",
        "result.x TRANSFORMATION t.b",
    }
    assert edges("select a from t" + " union all select a from t" * 1_000) == {"result.a IDENTITY t.a"}


def test_a_spent_budget_is_said() -> None:
    (statement,) = read_script(
        "select a from t" + " join t using (a)" * 2_000, "duckdb", budget=Budget(0.05)
    ).statements
    assert statement.status == "failed"
    assert [unknown.reason for unknown in statement.unknowns] == ["budget_spent"]


def test_paths_that_multiply_cost_what_their_sets_cost() -> None:
    steps = ["s0 as (select a, b from t)"]
    steps += [f"s{n} as (select a + b as a, a - b as b from s{n - 1})" for n in range(1, 200)]
    begin = time.process_time()
    assert edges(f"with {', '.join(steps)} select a from s199") == {
        "result.a TRANSFORMATION t.a",
        "result.a TRANSFORMATION t.b",
    }
    assert time.process_time() - begin < 5


def test_an_edge_is_said_once_with_its_surest_reason() -> None:
    (edge,) = read_script("select a from t union all select t.a from t", "duckdb").collapsed
    assert edge == Edge(
        Column(Table(("t",)), "a"),
        Column(Table(("result",)), "a"),
        "DIRECT",
        "IDENTITY",
        False,
        "a",
        0.99,
        "single source",
    )


_WORDS = (
    "select insert into from where ( ) ' \" ; , a b t.a t . * -- /* */ $$ begin end case when then else join on using "
    "with as union all group by order [ ] = + 1"
)
_PIECES = st.sampled_from([*_WORDS.split(" "), "\n"])


@settings(max_examples=examples(150))
@given(st.lists(_PIECES, max_size=30), st.sampled_from(["duckdb", "tsql", "mysql", "snowflake", "oracle", "bigquery"]))
def test_no_text_breaks_the_reader(words: list[str], dialect: str) -> None:
    text = " ".join(words)
    for statement in read_script(text, dialect).statements:
        assert 0 <= statement.span.start <= statement.span.end <= len(text)
        assert statement.status != "failed" or statement.error


@pytest.mark.parametrize(
    "empties", ["truncate table st", "delete from st", "drop table st; create temp table st (a text)"]
)
def test_what_was_in_a_temporary_table_before_it_was_emptied_goes_nowhere(empties: str) -> None:
    text = f"""create temp table st (a text); insert into st select x from one; insert into y select a from st;
        {empties}; insert into st select x from two; insert into z select a from st"""
    assert edges(text, "postgres") == {"y.a IDENTITY one.x", "z.a IDENTITY two.x"}


def test_a_dropped_temporary_table_uncovers_the_one_that_it_hid() -> None:
    text = "create temp table t as select a from one; drop table t; insert into z select a from t"
    assert edges(text, "postgres") == {"z.a IDENTITY t.a"}


def test_rows_that_may_be_left_are_still_there() -> None:
    text = """create temp table st (a text); insert into st select x from one; delete from st where a = 'x';
        insert into st select x from two; insert into z select a from st"""
    assert {"z.a IDENTITY one.x", "z.a IDENTITY two.x"} < edges(text, "postgres")


@pytest.mark.parametrize("kind", ["semi", "anti"])
def test_only_the_condition_of_a_semi_join_sees_its_right_side(kind: str) -> None:
    text = f"insert into z select id, name from t left {kind} join u on t.id = u.id where name > 1"
    for known in ({"u": ("id", "name"), "z": ("id", "name")}, {"t": ("id", "name"), "u": ("id", "name")}, {}):
        found = edges(text, "spark", Catalog.from_columns(known, "spark"))
        assert found == {
            "z.id IDENTITY t.id",
            "z.name IDENTITY t.name",
            "z JOIN t.id",
            "z JOIN u.id",
            "z FILTER t.name",
        }, known


@pytest.mark.parametrize("known", [{"a": ("id", "k"), "b": ("id",), "c": ("k", "v"), "z": ("id", "v")}, {}])
@pytest.mark.parametrize(
    "joins",
    [
        "left semi join b on a.id = b.id join c on a.k = c.k",
        "join c on a.k = c.k left semi join b on a.id = b.id",
        "left anti join b on a.id = b.id left semi join c on a.k = c.k",
        "left semi join b using (id) left anti join c using (k)",
    ],
)
def test_joins_before_and_behind_a_semi_join(known: dict[str, tuple[str, ...]], joins: str) -> None:
    found = edges(f"insert into z select a.id, a.k from a {joins}", "spark", Catalog.from_columns(known, "spark"))
    rows = {"z JOIN a.id", "z JOIN b.id", "z JOIN a.k", "z JOIN c.k"}
    assert {one for one in found if one.startswith("z JOIN")} == rows
    assert {one.rpartition(" ")[2] for one in found if "IDENTITY" in one} == {"a.id", "a.k"}


def test_a_semi_join_in_brackets_is_read() -> None:
    (statement,) = read_script("select t.id from (a left semi join b on a.id = b.id) t", "spark").statements
    assert [str(table) for table in statement.reads] == ["a", "b"]


def test_an_alias_is_meant_before_a_column_of_an_unknown_table() -> None:
    text = "with 5 as lim select a from t where id in (select id from u where x < lim)"
    (statement,) = read_script(text, "clickhouse").statements
    assert statement.status == "parsed"
    assert "u.lim" not in {str(edge.source) for edge in statement.edges}


def test_where_rows_are_no_values_an_alias_is_a_column() -> None:
    for dialect in ("spark", "snowflake", "tsql", "mysql"):
        found = edges("insert into z (a) select status from dim_status status", dialect)
        assert {one.lower() for one in found} == {"z.a identity dim_status.status"}, dialect


def test_a_table_of_unknown_columns_in_a_subquery_may_have_what_the_outer_one_has() -> None:
    catalog = Catalog.from_columns({"tgt": ("k", "total", "amount"), "t": ("a", "id"), "z": ("a",)}, "postgres")
    for text, inner, outer in (
        ("update tgt set total = (select sum(amount) from orders o where o.k = tgt.k)", "orders.amount", "tgt.amount"),
        ("insert into z select a from t where id in (select id from u)", "u.id", "t.id"),
    ):
        script = read_script(text, "postgres", catalog)
        sure = {str(edge.source): edge.confidence for edge in script.collapsed}
        assert sure[inner] == 0.5
        assert outer in sure
        assert [unknown.reason for unknown in script.statements[0].unknowns] == ["column_ambiguous"]


def test_an_element_that_goes_by_no_name_may_have_what_the_outer_table_has() -> None:
    catalog = Catalog.from_columns({"d.o": ("id", "price", "items"), "d.z": ("s",)}, "bigquery")
    text = "insert into d.z (s) select (select sum(price) from unnest(items){alias}) from d.o"
    (statement,) = read_script(text.format(alias=""), "bigquery", catalog).statements
    assert {str(edge.source): edge.confidence for edge in statement.edges} == {"d.o.items.price": 0.5, "d.o.price": 0.5}
    assert [unknown.reason for unknown in statement.unknowns] == ["column_ambiguous"]
    (statement,) = read_script(text.format(alias=" as x where x > 0"), "bigquery", catalog).statements
    assert statement.status == "parsed"
    assert "d.o.price" in {str(edge.source) for edge in statement.edges}


def test_a_whole_row_of_a_table_of_unknown_columns_is_a_star() -> None:
    for text, dialect in (
        ("insert into z (a) select to_jsonb(o) from orders o", "postgres"),
        ("insert into z (a) select to_json_string(o) from orders as o", "bigquery"),
    ):
        script = read_script(text, dialect)
        assert {f"{edge.target} {edge.subtype} {edge.source}" for edge in script.collapsed} == {
            "z.a TRANSFORMATION orders.*"
        }
        assert [unknown.reason for unknown in script.statements[0].unknowns] == ["star_not_expanded"]
    assert edges("insert into z (a) select orders from orders", "postgres") == {"z.a IDENTITY orders.orders"}
