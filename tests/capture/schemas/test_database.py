"""The columns of real databases: found under the names that SQL has for them, and no secret is ever said."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from whence.capture.schemas import catalog_from
from whence.capture.schemas.database import read_database
from whence.capture.schemas.quoting import quote_name
from whence.capture.sql import Catalog, Column, Table, read_script
from whence.errors import SchemaError

TABLES = """
create schema archive;
create table orders (id int, amount numeric, day date);
create table archive.orders (id int, "Old Amount" numeric);
create table "Order Items" (order_id int, "Unit Price" numeric, "select" text);
create view daily as select day, sum(amount) as total from orders group by day;
create materialized view big as select * from orders where amount > 100;
"""
QUOTED = (
    'create table prices as select o.*, "Unit Price" * 2 as twice from orders o join "Order Items" i on order_id = id'
)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[str]:
    engine = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text(TABLES))
    yield postgres_url
    engine.dispose()


def sources(sql: str, dialect: str, catalog: Catalog) -> dict[str, set[str]]:
    """Of each column of the target, what flows into it; fails where anything is not known for certain."""
    script = read_script(sql, dialect, catalog)
    assert [statement.unknowns for statement in script] == [()]
    found: dict[str, set[str]] = {}
    for edge in script.collapsed:
        if edge.type == "DIRECT" and isinstance(edge.target, Column):
            assert edge.confidence == 1
            found.setdefault(edge.target.name, set()).add(str(edge.source))
    return found


def test_tables_and_views_of_postgres_as_sql_reaches_them(postgres: str) -> None:
    database = make_url(postgres).database
    catalog = read_database(postgres, "postgres")
    known = {".".join(table.parts[1:]): columns for table, columns in catalog.tables.items()}
    assert known == {
        "public.orders": ("id", "amount", "day"),
        "archive.orders": ("id", "Old Amount"),
        "public.Order Items": ("order_id", "Unit Price", "select"),
        "public.daily": ("day", "total"),
        "public.big": ("id", "amount", "day"),
    }
    assert {table.parts[0] for table in catalog.tables} == {database}
    orders, items = f"{database}.public.orders", f"{database}.public.Order Items"
    assert sources(QUOTED, "postgres", catalog) == {
        "id": {f"{orders}.id"},
        "amount": {f"{orders}.amount"},
        "day": {f"{orders}.day"},
        "twice": {f"{items}.Unit Price"},
    }
    archived = sources("create table a as select * from archive.orders", "postgres", catalog)
    assert set(archived) == {"id", "Old Amount"}


def test_the_schema_of_the_connection_comes_first(postgres: str) -> None:
    there = make_url(postgres).update_query_dict({"options": "-csearch_path=archive"})
    catalog = read_database(there.render_as_string(hide_password=False), "postgres")
    assert set(sources("create table a as select * from orders", "postgres", catalog)) == {"id", "Old Amount"}


def test_reading_needs_no_right_to_read_rows(postgres: str) -> None:
    engine = create_engine(make_url(postgres).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("drop role if exists reader"))
        connection.execute(text("create role reader login"))
        try:
            catalog = read_database(make_url(postgres).set(username="reader").render_as_string(), "postgres")
            assert "amount" in catalog.tables[Table((make_url(postgres).database or "", "public", "orders"))]
        finally:
            connection.execute(text("drop role reader"))
    engine.dispose()


def test_sqlite_is_only_read(tmp_path: Path) -> None:
    file = tmp_path / "shop's 100%.db"
    with sqlite3.connect(file) as connection:
        connection.execute("create table orders (id, Amount)")
        connection.execute('create view "top" as select id from orders')
    connection.close()
    file.chmod(0o400)
    before = file.read_bytes()
    catalog = read_database(f"sqlite:///{file}", "sqlite")
    assert sources("create table t as select * from orders", "sqlite", catalog) == {
        "id": {"main.orders.id"},
        "amount": {"main.orders.amount"},
    }
    assert catalog.find(Table(("top",))) == ("id",)
    assert (file.read_bytes(), [path.name for path in tmp_path.iterdir()]) == (before, [file.name])


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:////nowhere/no.db", "there is no such file"),
        ("snowflake://ada:hunter2@acme/db/public?private_key=hunter2", "pip install 'snowflake-sqlalchemy'"),
        ("mysql+mysqldb://ada:hunter2@db/shop", "pip install 'mysqlclient'"),
        ("klingon://ada:hunter2@db/shop", "install the SQLAlchemy dialect"),
        ("postgresql://ada:hunter2@127.0.0.1:1/shop?application_name=hunter2", "refused"),
        ("postgres://ada:hunter2@127.0.0.1:1/shop", "refused"),
        ("://hunter2", "DIALECT://"),
    ],
)
def test_errors_say_what_to_do_and_no_password(url: str, expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read_database(url, "postgres")
    assert expected in str(caught.value)
    assert "hunter2" not in f"{caught.value} {caught.value!r}"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_refused_login_says_so_without_the_password(postgres: str) -> None:
    wrong = make_url(postgres).set(database="hunter2 is not there", password="hunter2")
    with pytest.raises(SchemaError) as caught:
        read_database(wrong.render_as_string(hide_password=False), "postgres")
    assert "does not exist" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "dialect", "column"),
    [
        ("orders", "snowflake", "ORDERS"),
        ("ORDERS", "snowflake", "ORDERS"),
        ("Orders", "snowflake", "Orders"),
        ("ORDERS", "postgres", "ORDERS"),
        ("Or.ders", "duckdb", "or.ders"),
        ('a"b', "postgres", 'a"b'),
        ("a`b]", "mysql", "a`b]"),
    ],
)
def test_names_come_through_as_the_dialect_compares_them(name: str, dialect: str, column: str) -> None:
    catalog = catalog_from([((name,), (name,))], dialect)
    ((table, columns),) = catalog.tables.items()
    assert columns == (column,)
    assert table.parts == ((name,) if dialect == "mysql" else (column,)), quote_name(name)
