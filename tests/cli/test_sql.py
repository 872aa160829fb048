"""`whence sql` shows a tree or one document, and its exit code says whether all was read."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whence.cli.commands.app import app

TREE = """\
1:1 insert parsed  orders → daily
├─ daily.day
│  └─ orders.day  IDENTITY
├─ daily.total
│  └─ orders.amount  AGGREGATION  SUM(amount)
└─ daily
   └╌ orders.day  GROUP_BY  day
"""
STATEMENT = "insert into daily select day, sum(amount) as total from orders group by day"


@pytest.fixture
def schema(tmp_path: Path) -> str:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"orders": ["day", "amount"], "daily": ["day", "total"]}), "utf-8")
    return str(file)


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["sql", *arguments], input=stdin)
    return done.exit_code, done.output


def test_a_tree_for_a_person(schema: str) -> None:
    assert run(STATEMENT, "--dialect", "duckdb", "--schema", schema) == (0, TREE)


def test_what_is_not_sure_has_its_reason() -> None:
    code, text = run("insert into daily select day from orders join days using (d)", "--dialect", "duckdb")
    assert code == 0
    assert "orders.day  IDENTITY  0.5 one of several candidates" in text
    code, text = run("insert into daily select day from orders", "--dialect", "duckdb")
    assert "orders.day  IDENTITY  0.5 the target's columns are not known" in text


def test_what_is_not_known_is_said_in_words(tmp_path: Path) -> None:
    code, text = run("insert into daily select * from orders", "--dialect", "duckdb")
    assert (code, "the columns of orders are not known; give them with --schema" in text) == (0, True)
    code, text = run("select x from orders", "--dialect", "duckdb", "--schema", _written(tmp_path, {"orders": ["day"]}))
    assert "no table has the column x" in text


def test_a_directory_without_sql_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "staging").mkdir()
    code, text = run(str(tmp_path / "staging"), "--dialect", "duckdb")
    assert (code, "no .sql files in" in text) == (2, True)


def _written(directory: Path, columns: Mapping[str, object]) -> str:
    file = directory / "columns.json"
    file.write_text(json.dumps(columns), "utf-8")
    return str(file)


def test_a_schema_may_have_types_as_that_of_the_gate(schema: str, tmp_path: Path) -> None:
    listed = json.loads(Path(schema).read_text("utf-8"))
    typed = _written(tmp_path, {table: dict.fromkeys(columns, "integer") for table, columns in listed.items()})
    assert run(STATEMENT, "--dialect", "duckdb", "--schema", typed) == (0, TREE)


def test_a_document_for_a_program(schema: str, tmp_path: Path) -> None:
    file = tmp_path / "load.sql"
    file.write_text(STATEMENT, "utf-8")
    code, text = run(str(file), "--dialect", "duckdb", "--schema", schema, "-o", "json")
    (statement,) = json.loads(text)["statements"]
    assert code == 0
    assert (statement["kind"], statement["status"], statement["reads"]) == ("insert", "parsed", ["orders"])
    assert statement["edges"][0] == {
        "source": {"table": "orders", "column": "day"},
        "target": {"table": "daily", "column": "day"},
        "type": "DIRECT",
        "subtype": "IDENTITY",
        "masking": False,
        "expression": "day",
        "confidence": 1.0,
        "reason": "schema",
    }


def test_stdin_and_a_statement_that_fails() -> None:
    code, text = run("-", stdin="select a from t; SELEC b")
    assert code == 1
    assert "1:18 selec failed" in text


def test_a_dialect_or_a_schema_that_is_none(tmp_path: Path) -> None:
    code, output = run("select 1", "--dialect", "postgress")
    assert (code, "did you mean 'postgres'?" in output) == (2, True)
    assert run("select 1", "--dialect", "klingon")[0] == 2
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1]", "utf-8")
    code, output = run("select 1", "--schema", str(wrong))
    assert (code, "db.table" in output) == (1, True)
