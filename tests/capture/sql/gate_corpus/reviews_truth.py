"""Decides by execution what each edit of `reviews.py` changes, and writes `queries/reviews_truth.txt`.

    make accuracy-gate ARGS="--truth reviews"

Both versions of a project run on random databases in DuckDB, in DuckDB's spelling of their dialect (SQLGlot). The
table that an incremental model adds to has random rows; what it would add is compared.
"""

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

import duckdb
import sqlglot

from capture.sql.gate_corpus.execution import Table
from capture.sql.gate_corpus.query_edits import FOLDER, Edit, Truth, write_truths
from capture.sql.gate_corpus.query_truth import Difference
from capture.sql.gate_corpus.reviews import RAW, Model, compiled, dialect_of, review_edits

DATABASES = 16
_WORDS = {
    "status": ["paid", "open", "void", "returned", "test"],
    "coupon": ["", "X1"],
    "email": ["A@x ", " b@X", "c@x"],
    "first_name": ["Ann", "Bob"],
    "last_name": ["Li", "Ng"],
    "country": ["it", "no", "IT"],
    "select": ["a", "b"],
    "method": ["card", "bank", "voucher", "cash"],
    "state": ["paid", "settled", "failed"],
    "kind": ["click", "Buy", "buy", "view"],
    "source": ["bot", "web"],
    "plan": ["free", "team", "x", "pro"],
    "referrer": ["", " ", " f", "g"],
    "cost": ["1", "2.5", "x", "0"],
    "device": ["mobile", "Mobile", "desk"],
    "name": ["Ad", "ad", "Bd"],
    "channel": ["tv"],
    "internal_note": ["n"],
}
_KEYS = ("id", "click_id", "conversion_id")
_WITHOUT_TIES = ("app.users.created_at", "app.users.updated_at")
"""Moments that order the versions of a user: with ties, both versions of a query would be free to choose."""
_OWN = {"inc_payments": {"payment_id": "integer", "order_id": "integer", "state": "varchar", "paid_at": "timestamp"}}


def write() -> None:
    """Write the truth of all edits, and print those whose author expected something else."""
    found: dict[str, Truth] = {}
    for project in dict.fromkeys(edit.statement for edit in review_edits()):
        of = [edit for edit in review_edits() if edit.statement == project]
        found |= _judge(project, of)
        wrong = [edit for edit in of if found[edit.name].is_harmless != (edit.expected == "harmless")]
        sys.stdout.write(f"{project}: {', '.join(edit.kind for edit in wrong) or 'as expected'}\n")
    (FOLDER / "reviews_truth.txt").write_text(write_truths(found), "utf-8")


def _judge(project: str, of: Sequence[Edit]) -> Iterator[tuple[str, Truth]]:
    dialect = dialect_of(of[0])
    differences: dict[str, dict[str, Difference]] = {edit.name: {} for edit in of}
    broken: dict[str, str] = {}
    before: Mapping[str, Table] = {}
    for seed in range(DATABASES):
        connection = _database(dialect, seed)
        before = _run(connection, dialect, of[0].before)
        for edit in of:
            try:
                after = _run(connection, dialect, edit.after, _compiled(edit.before))
            except duckdb.Error as error:
                broken[edit.name] = str(error).splitlines()[0]
                continue
            kept = {model.name for model in _compiled(edit.after)} - after.keys()
            _add(differences[edit.name], seed, {name: one for name, one in before.items() if name not in kept}, after)
    yield project, Truth(columns=tuple(f"{model}.{name}" for model, table in before.items() for name in table.types))
    for edit in of:
        if edit.name in broken:
            yield edit.name, Truth(broken=broken[edit.name])
        else:
            yield edit.name, _whole(differences[edit.name])


def _add(found: dict[str, Difference], seed: int, before: Mapping[str, Table], after: Mapping[str, Table]) -> None:
    for model, table in before.items():
        found.setdefault(model, Difference()).add(seed, table, after.get(model, Table({}, ())))


def _whole(found: Mapping[str, Difference]) -> Truth:
    """One truth of all models. Rows without a column that changed name their model as `model.`"""
    truths = {model: difference.truth() for model, difference in found.items()}
    removed, added, kinds, values = (
        tuple(f"{model}.{name}" for model, truth in truths.items() for name in getattr(truth, kind))
        for kind in ("removed", "added", "type", "values")
    )
    alone = tuple(f"{model}." for model, truth in truths.items() if truth.rows and not truth.changed())
    witness = next((f"{model}: {truth.witness}" for model, truth in truths.items() if truth.witness), "")
    rows = any(truth.rows for truth in truths.values())
    return Truth((), removed, added, kinds, (*values, *alone), rows, "", witness)


def _run(
    connection: duckdb.DuckDBPyConnection, dialect: str, text: str, base: Sequence[Model] = ()
) -> Mapping[str, Table]:
    """The tables of a version. Of a head, only models that differ from the base, or read one that does, are built."""
    schema = "head" if base else "base"
    with suppress(duckdb.Error):
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
    connection.execute(f"CREATE SCHEMA {schema}")
    connection.execute(f"SET search_path = '{schema},base'")
    old = {model.name: model.sql for model in base}
    changed: set[str] = set()
    for model in _compiled(text):
        if old.get(model.name) != model.sql or changed & set(model.parents):
            changed.add(model.name)
    return {
        model.name: _table(connection, model, f"{schema}.{model.name}", dialect)
        for model in _compiled(text)
        if model.name in changed
    }


def _table(connection: duckdb.DuckDBPyConnection, model: Model, name: str, dialect: str) -> Table:
    connection.execute(f"CREATE TABLE {name} AS {_in_duckdb(model.sql, dialect)}")
    cursor = connection.execute(f"SELECT * FROM {name}")
    types = {name.lower(): _type(str(kind), dialect) for name, kind, *_ in cursor.description or ()}
    return Table(types, tuple(tuple(repr(cell) for cell in row) for row in cursor.fetchall()))


def _type(kind: str, dialect: str) -> str:
    """A type, as far as DuckDB is a judge of it: what counts is of one type in Snowflake and in BigQuery."""
    return kind if dialect == "postgres" else kind.replace("HUGEINT", "BIGINT")


@cache
def _compiled(text: str) -> tuple[Model, ...]:
    return tuple(compiled(text, "state.{}"))


@cache
def _in_duckdb(sql: str, dialect: str) -> str:
    return sqlglot.transpile(sql, read=dialect, write="duckdb")[0]


def _database(dialect: str, seed: int) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET timezone = 'UTC'")
    for schema in ("app", "raw", "state"):
        connection.execute(f"CREATE SCHEMA {schema}")
    rng = random.Random(seed)
    tables = {**RAW[dialect], **{f"state.{name}": types for name, types in _OWN.items()}}
    for name, types in tables.items():
        kinds = {column: "timestamptz" if (dialect, kind) == ("bigquery", "timestamp") else kind
                 for column, kind in types.items()}  # fmt: skip
        columns = ", ".join(f'"{column}" {_duckdb(kind)}' for column, kind in kinds.items())
        connection.execute(f"CREATE TABLE {name} ({columns})")
        rows = [
            [_value(rng, number, f"{name}.{column}", kind) for column, kind in types.items()]
            for number in range(0 if rng.random() < (0.4 if name.startswith("state.") else 0.1) else rng.randint(4, 24))
        ]
        if rows:
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(types))})", rows)
    return connection


def _duckdb(kind: str) -> str:
    return {"int64": "bigint", "string": "varchar", "numeric": "numeric(38, 9)", "bool": "boolean"}.get(kind, kind)


def _value(rng: random.Random, number: int, place: str, kind: str) -> object:
    column = place.rpartition(".")[2]
    if column in _KEYS and place != "app.users.id":
        return number + 1
    if place in _WITHOUT_TIES:
        return f"2024-01-0{rng.randint(1, 4)} 12:{number:02d}:{30 if column == 'created_at' else 0:02d}"
    if rng.random() < 0.15:
        return None
    if column in _WORDS:
        return rng.choice(_WORDS[column])
    if kind == "date":
        return f"2024-01-{rng.randint(1, 4):02d}"
    if place == "app.events.at":
        return f"2024-01-{rng.randint(1, 3):02d} 09:{rng.choice([0, 1, 30, 31]):02d}:00"
    if kind == "timestamp":
        day = rng.randint(1, 11 if column.endswith("ed_at") else 4)
        return f"2024-01-{day:02d} {rng.choice([0, 9, 10, 23]):02d}:{rng.choice([0, 30, 31]):02d}:00"
    if kind in ("boolean", "bool"):
        return rng.random() < 0.6
    if column == "amount_cents":
        return rng.choice([0, 99, 1250, 5000, 10000, 33])
    return rng.randint(0, 6)
