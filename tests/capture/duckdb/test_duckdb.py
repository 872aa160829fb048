"""DuckDB as a job uses it: what the store knows of its statements, against what they say."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from sqlalchemy import Engine

import whence_client as whence
from client.tests.frames.sessions import Kept
from fixtures.captured_lineage import column_edges, store_events
from whence_client.duckdb.hooks import DuckdbCapture
from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.frames.polars.hooks import PolarsCapture

CASES = {
    "a table of a file": (
        "con.execute(\"CREATE TABLE big AS SELECT id, amount * 2 AS twice FROM read_csv('orders.csv') WHERE id > 1\")",
        {"orders.id -> big.id", "orders.amount -> big.twice"},
    ),
    "a copy of a join": (
        'con.execute("""COPY (SELECT name, sum(amount) AS total -- by customer\n'
        "  FROM 'orders.csv' o JOIN read_parquet('customers.parquet') c ON c.id = o.customer GROUP BY ALL\n"
        ') TO \'totals.parquet\' (FORMAT parquet)""")',
        {"orders.amount -> totals.total", "customers.name -> totals.name"},
    ),
    "common table expressions and a star": (
        "con.sql(\"CREATE VIEW v AS WITH orders AS (FROM 'orders.csv') SELECT * EXCLUDE (customer) FROM orders\")",
        {"orders.id -> v.id", "orders.amount -> v.amount"},
    ),
    "files in a list": (
        "con.sql(\"COPY (SELECT amount FROM read_csv(['orders.csv', 'orders.csv'], header = true)) TO 'out.csv'\")",
        {"orders.amount -> out.amount"},
    ),
    "several statements, of which the last is lazy": (
        "con.sql(\"CREATE TABLE a AS FROM 'orders.csv'; SELECT amount FROM a\").write_csv('out.csv')",
        {"orders.id -> a.id", "orders.customer -> a.customer", "orders.amount -> a.amount", "a.amount -> out.amount"},
    ),
    "an insert by position": (
        "con.execute('CREATE TABLE t (x INT, y DOUBLE)'); "
        "con.execute(\"INSERT INTO t SELECT customer, amount FROM 'orders.csv'\")",
        {"orders.customer -> t.x", "orders.amount -> t.y"},
    ),
    "a file that is copied into a table, and the table into a file": (
        "con.execute('CREATE TABLE t (x INT, y INT, z DOUBLE)'); con.execute(\"COPY t FROM 'orders.csv'\"); "
        "con.execute(\"COPY t TO 'copy.csv'\")",
        {"orders.id -> t.x", "orders.customer -> t.y", "orders.amount -> t.z"}
        | {"t.x -> copy.x", "t.y -> copy.y", "t.z -> copy.z"},
    ),
    "a frame of pandas by its variable": (
        "frame = pd.read_csv('orders.csv').rename(columns={'amount': 'price'}); "
        "con.execute(\"COPY (SELECT price + 1 AS more FROM frame) TO 'out.csv'\")",
        {"orders.id -> frame.id", "orders.customer -> frame.customer", "orders.amount -> frame.price"}
        | {"frame.price -> out.more"},
    ),
    "a frame of polars in a relation": (
        "frame = pl.read_csv('orders.csv').select(price=pl.col('amount') * 2); "
        "con.sql('FROM frame').filter('price > 1').write_parquet('out.parquet')",
        {"orders.amount -> frame.price", "frame.price -> out.price"},
    ),
    "a result that becomes a frame": (
        "pd.concat([con.execute(\"SELECT amount / 2 AS half FROM 'orders.csv'\").df()]).to_csv('out.csv')",
        {"orders.amount -> result.half", "result.half -> out.half"},
    ),
    "a relation that becomes a frame of polars": (
        "con.sql(\"SELECT id, amount FROM 'orders.csv'\").pl().select(pl.col('amount').sum()).write_csv('out.csv')",
        {"orders.id -> result.id", "orders.amount -> result.amount", "result.amount -> out.amount"},
    ),
    "a table by the relation": (
        "con.sql(\"FROM 'orders.csv'\").project('id, amount + id AS s').create('made')",
        {"orders.id -> made.id", "orders.id -> made.s", "orders.amount -> made.s"},
    ),
    "an insert that updates": (
        "con.execute('CREATE TABLE t (k INT PRIMARY KEY, v DOUBLE)'); "
        "con.execute(\"INSERT INTO t SELECT id, amount FROM 'orders.csv' ON CONFLICT DO UPDATE SET v = excluded.v\")",
        {"orders.id -> t.k", "orders.amount -> t.v"},
    ),
    "an insert that returns": (
        "con.execute('CREATE TABLE t (k INT)'); con.execute(\"INSERT INTO t SELECT id FROM 'orders.csv' RETURNING k\")",
        {"orders.id -> t.k"},
    ),
    "temporary tables and views": (
        "con.execute(\"CREATE TEMP TABLE t AS FROM 'orders.csv'\"); "
        "con.execute('CREATE TEMPORARY VIEW v AS SELECT amount + 1 AS more FROM t')\n"
        "con.execute(\"COPY v TO 'out.csv'\")",
        {"orders.id -> t.id", "orders.customer -> t.customer", "orders.amount -> t.amount"}
        | {"t.amount -> v.more", "v.more -> out.more"},
    ),
    "a table of an open transaction": (
        "con.begin(); con.execute(\"CREATE TABLE t AS SELECT id FROM 'orders.csv'\"); "
        "con.execute(\"COPY t TO 'out.csv'\"); con.commit()",
        {"orders.id -> t.id", "t.id -> out.id"},
    ),
    "a table of an attached database": (
        "con.execute(\"CREATE TABLE t AS SELECT id AS a FROM 'orders.csv'\"); "
        "con.execute(\"ATTACH 'other.duckdb' AS other\"); con.execute('CREATE TABLE other.u AS SELECT a AS b FROM t'); "
        "con.execute(\"COPY other.u TO 'out.csv'\")",
        {"orders.id -> t.a", "t.a -> u.b", "u.b -> out.b"},
    ),
    "a frame that is registered": (
        "con.register('known', pd.read_csv('orders.csv')[['amount']]); "
        "con.execute('SELECT amount * 2 AS twice FROM known').df().to_csv('out.csv'); "
        "con.sql('SELECT amount FROM known').write_csv('copy.csv')",
        {"orders.amount -> known.amount", "known.amount -> result.twice", "result.twice -> out.twice"}
        | {"known.amount -> copy.amount"},
    ),
    "a lazy frame of polars": (
        "frame = pl.scan_csv('orders.csv').select(price=pl.col('amount') * 2); "
        "con.execute(\"COPY (SELECT price FROM frame WHERE price > 1) TO 'out.csv'\")",
        {"orders.amount -> frame.price", "frame.price -> out.price"},
    ),
    "a pattern for some files": (
        "con.execute(\"COPY (FROM 'orders.csv') TO 'orders-2.csv'\"); "
        "con.execute(\"COPY (SELECT id FROM 'orders*.csv') TO 'out.csv'\")\n"
        "con.execute(\"COPY (SELECT customer FROM read_csv(['orders*.csv'], header = true)) TO 'list.csv'\")",
        {f"orders.{one} -> orders-2.{one}" for one in ("id", "customer", "amount")}
        | {"orders.id -> out.id", "orders-2.id -> out.id"}
        | {"orders.customer -> list.customer", "orders-2.customer -> list.customer"},
    ),
    "table macros of which one calls the other": (
        "con.execute('CREATE MACRO bought(least, file) AS TABLE SELECT id, amount FROM read_csv(file) "
        "WHERE amount > least')\n"
        'con.execute("CREATE TEMP MACRO more(n) AS TABLE SELECT b.id, amount + n AS sum '
        "FROM main.bought(n, 'orders.csv') b\")\n"
        "con.execute(\"COPY (SELECT id, sum FROM more((1 + 2))) TO 'out.csv'\")",
        {"orders.id -> out.id", "orders.amount -> out.sum"},
    ),
    "names that need quotes": (
        'con.execute(\'CREATE TABLE "my t" AS SELECT amount AS "the ""sum""" FROM "orders.csv"\')',
        {'orders.amount -> my t.the "sum"'},
    ),
}


@pytest.fixture
def session(folder: Path) -> Iterator[Kept]:
    made = Kept()
    undos = [one.install(made) for one in (PandasCapture(), PolarsCapture(), DuckdbCapture())]
    yield made
    for undo in undos:
        undo()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inputs, in the working directory of the job."""
    place = tmp_path / "prod lake ü"
    place.mkdir()
    (place / "orders.csv").write_text("id,customer,amount\n1,7,2.5\n2,8,3.5\n3,7,4.5\n")
    customers = duckdb.sql("SELECT 7 AS id, 'Ann' AS name UNION ALL SELECT 8, 'Bob'")
    assert customers is not None
    customers.write_parquet(str(place / "customers.parquet"))
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("name", CASES)
def test_columns_are_what_the_statement_says(name: str, session: Kept, folder: Path, sqlite_store: Engine) -> None:
    code, expected = CASES[name]
    with duckdb.connect(str(folder / "shop.duckdb")) as con:
        exec(code, {"con": con, "pd": pd, "pl": pl})
    assert session.guard("duckdb").counts == {}
    assert column_edges(store_events(sqlite_store, session.events)) == expected


def test_tables_and_files_have_the_names_that_everybody_gives_them(session: Kept, folder: Path) -> None:
    with duckdb.connect("shop.duckdb") as con:
        con.execute("CREATE TABLE orders AS FROM 'orders.csv'")
    duckdb.sql("CREATE OR REPLACE TABLE scratch AS FROM 'orders.csv'")
    lasting, passing = session.events
    assert [(one["namespace"], one["name"]) for one in (*lasting["inputs"], *lasting["outputs"])] == [
        ("file", str(folder / "orders.csv")),
        (f"duckdb://{folder}/shop.duckdb", "shop.main.orders"),
    ]
    assert passing["outputs"][0]["namespace"] == "dev"
    assert passing["outputs"][0]["name"].endswith(".memory.main.scratch")
    assert str(folder / "orders.csv") in lasting["job"]["facets"]["sql"]["query"]


def test_a_relation_has_the_tables_of_its_own_connection(session: Kept, folder: Path, sqlite_store: Engine) -> None:
    with duckdb.connect("shop.duckdb") as shop, duckdb.connect("crm.duckdb") as crm:
        for con in (shop, crm):
            con.execute("CREATE TABLE orders AS FROM 'orders.csv'")
        shop.table("orders").project("amount").limit(1).write_csv("shop.csv")
        crm.sql("FROM orders").order("amount").set_alias("o").project("amount").write_csv("crm.csv")
    *_, from_shop, from_crm = session.events
    assert from_shop["inputs"][0]["namespace"] == f"duckdb://{folder}/shop.duckdb"
    assert from_crm["inputs"][0]["namespace"] == f"duckdb://{folder}/crm.duckdb"
    assert {"orders.amount -> shop.amount", "orders.amount -> crm.amount"} <= column_edges(
        store_events(sqlite_store, session.events)
    )


def test_a_file_whose_path_is_computed_is_announced(session: Kept, folder: Path) -> None:
    duckdb.sql("COPY (FROM read_csv(concat('orders', '.csv'))) TO 'out.csv'")
    (event,) = session.events
    assert event["inputs"] == []
    assert list(session.guard("duckdb").take_errors()) == ["duckdb: the name read_csv()"]


WIDE = ", ".join(f"sum(amount + {number}) AS s{number}" for number in range(150))
WIDE_QUERIES = {
    f"SELECT customer, {WIDE} FROM 'orders.csv' GROUP BY customer": set(),
    f"SELECT customer, {WIDE.upper()} FROM 'orders.csv' GROUP BY customer": set(),
    f"SELECT Customer, {WIDE} FROM 'orders.csv' GROUP BY customer": {"BIGINT", "DOUBLE"},
    f"SELECT customer, count(*), {WIDE} FROM 'orders.csv' GROUP BY customer": {"BIGINT", "DOUBLE"},
    f"SELECT COLUMNS('customer|id') AS c, {WIDE} FROM 'orders.csv' GROUP BY ALL": {"BIGINT", "DOUBLE"},
    f"SELECT unnest({{'p': 1}}) AS c, {WIDE.replace('sum', '')} FROM 'orders.csv'": {"INTEGER", "DOUBLE"},
    f"SELECT *, 1 AS customer FROM (SELECT {WIDE} FROM 'orders.csv')": {"INTEGER", "DOUBLE"},
    f"SELECT amount AS customer, {WIDE} FROM 'orders.csv' GROUP BY ALL UNION SELECT 1, {WIDE} FROM 'orders.csv'": {
        "DOUBLE"
    },
    "SELECT max(id) AS most FROM 'orders.csv'": {"BIGINT"},
}


@pytest.mark.parametrize(("query", "types"), WIDE_QUERIES.items())
def test_a_wide_text_file_has_the_columns_that_it_has(query: str, types: set[str], session: Kept, folder: Path) -> None:
    """Types are asked for unless the text says more than 100 names; then there are none."""
    duckdb.sql(f"COPY ({query}) TO 'out.csv' (HEADER)")
    (output,) = session.events[0]["outputs"]
    fields = output["facets"]["schema"]["fields"]
    assert {field["type"] for field in fields if "type" in field} == types
    assert [field["name"] for field in fields] == Path("out.csv").read_text().splitlines()[0].split(",")


def test_a_name_that_a_wide_query_has_twice_is_what_the_system_makes_of_it(session: Kept, folder: Path) -> None:
    duckdb.sql(f"COPY (SELECT max(id) AS S7, {WIDE} FROM 'orders.csv') TO 'out.csv'")
    fields = session.events[0]["outputs"][0]["facets"]["schema"]["fields"]
    assert [field["name"] for field in fields if field["name"].lower().startswith("s7_")] == ["s7_1"]


def test_what_adds_to_a_table_belongs_to_the_run_that_made_it(session: Kept, folder: Path) -> None:
    with duckdb.connect("shop.duckdb") as con:
        for _ in range(2):
            con.execute("CREATE OR REPLACE TABLE t AS FROM 'orders.csv'")
            con.execute("INSERT INTO t FROM 'orders.csv'")
    runs = [event["run"]["runId"] for event in session.events]
    assert runs[0] == runs[1] != runs[2] == runs[3]


def test_runs_of_one_program_share_its_memory(session: Kept, folder: Path, sqlite_store: Engine) -> None:
    con, rates = duckdb.connect(), pd.read_csv("orders.csv")
    with whence.run("extract", session=session):
        con.execute("CREATE TABLE t AS SELECT id, amount FROM 'orders.csv'")
        con.execute("CREATE TABLE u AS SELECT id, amount FROM rates")
    with whence.run("load", session=session):
        con.execute("COPY (SELECT t.amount, r.id FROM t JOIN rates r USING (id)) TO 'out.csv'")
    assert len(rates) > 0
    (written,) = [one for one in session.events if one["job"]["name"] == "load.out"]
    assert {one["name"] for one in written["inputs"]} == {"extract.memory.main.t", "extract.frames.rates"}


def test_statements_do_as_without_the_capture(session: Kept, folder: Path) -> None:
    """Variables of the caller are tables, parameters are bound, errors and results are the job's."""
    local = pd.DataFrame({"a": [1, 2]})
    con = duckdb.connect()
    assert con.execute("SELECT sum(a) + ? FROM local", [1]).fetchall() == [(4,)]
    assert con.sql("SELECT max(a) FROM local").fetchall() == [(2,)]
    counted = duckdb.sql("SELECT count(*) FROM local")
    assert counted is not None
    assert counted.fetchall() == [(2,)]
    assert duckdb.execute("SELECT min(a) FROM local").fetchall() == [(1,)]
    con.execute("CREATE TABLE numbers AS SELECT 2 AS n")
    assert con.table("numbers").filter("n IN (SELECT a FROM local)").fetchall() == [(2,)]
    with pytest.raises(duckdb.CatalogException, match="nothing"):
        con.execute("SELECT * FROM nothing")
    with pytest.raises(duckdb.ParserException):
        con.execute("SELEC 1")
    pending = con.execute("SELECT a FROM local ORDER BY a")
    con.cursor().execute("CREATE TABLE other AS SELECT 1 AS x")
    assert pending.fetchall() == [(1,), (2,)]
    assert len(local) == 2
    con.close()


def test_a_frame_of_unknown_origin_is_announced(session: Kept, folder: Path, sqlite_store: Engine) -> None:
    plain = {"a": [1, 2]}
    made = pd.DataFrame(plain)
    duckdb.sql("COPY (SELECT a FROM made) TO 'out.csv'")
    (event,) = session.events
    assert event["inputs"] == []
    assert list(session.guard("duckdb").take_errors()) == ["duckdb: the name made"]
    assert column_edges(store_events(sqlite_store, session.events)) == set()
    assert len(made) == 2


def test_a_file_by_a_parameter_is_known_or_announced(session: Kept, folder: Path, sqlite_store: Engine) -> None:
    """The trees of DuckDB 1 do not say where a parameter is."""
    with duckdb.connect("shop.duckdb") as con:
        con.execute("CREATE TABLE t (k INT)")
        con.execute("INSERT INTO t SELECT id FROM read_csv(?)", ["orders.csv"])
        con.execute("INSERT INTO t SELECT customer FROM read_csv($file)", {"file": "orders.csv"})
    known = {"orders.id -> t.k", "orders.customer -> t.k"}
    edges, errors = column_edges(store_events(sqlite_store, session.events)), session.guard("duckdb").counts
    is_known = int(duckdb.__version__.partition(".")[0]) > 1
    assert (edges, bool(errors)) == ((known, False) if is_known else (set(), True))


def test_a_function_that_reads_what_is_not_known_is_announced(session: Kept, folder: Path) -> None:
    with duckdb.connect() as con:
        con.execute("CREATE MACRO bought(least := 3) AS TABLE SELECT id FROM 'orders.csv' WHERE amount > least")
        con.execute("COPY (SELECT id FROM bought(), range(2)) TO 'out.csv'")
    assert list(session.guard("duckdb").take_errors()) == ["duckdb: the name bought()"]


def test_a_registered_frame_of_unknown_origin_is_announced(session: Kept, folder: Path) -> None:
    with duckdb.connect() as con:
        con.register("made", pd.DataFrame({"a": [1]}))
        con.execute("COPY (SELECT a FROM made) TO 'out.csv'")
    assert list(session.guard("duckdb").take_errors()) == ["duckdb: the name made"]


def test_the_end_of_a_program_prints_nothing(tmp_path: Path) -> None:
    """DuckDB keeps PyArrow until after its own end, and complains if anything refers to DuckDB from there."""
    job = tmp_path / "job.py"
    job.write_text("import duckdb, pyarrow.dataset\nprint(len(duckdb.connect().sql('SELECT 1 AS a').pl()))\n")
    transport = json.dumps({"type": "file", "log_file_path": str(tmp_path / "events.jsonl")})
    environment = {**os.environ, "OPENLINEAGE__TRANSPORT": transport, "WHENCE_OUTBOX": str(tmp_path / "outbox")}
    command = [sys.executable, "-m", "whence_client.trace", str(job)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


def test_undo_leaves_the_very_objects_that_were_there() -> None:
    owners: tuple[Any, ...] = (duckdb, duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation)
    before = [dict(vars(owner)) for owner in owners]
    undo = DuckdbCapture().install(Kept())
    DuckdbCapture().install(Kept())()
    assert duckdb.sql is not before[0]["sql"]
    undo()
    for owner, members in zip(owners, before, strict=True):
        assert [name for name, one in vars(owner).items() if members.get(name) is not one] == []
