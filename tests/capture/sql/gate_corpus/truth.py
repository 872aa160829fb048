"""Decides by execution what each edit changes: `PYTHONPATH=tests python -m capture.sql.gate_corpus.truth > truth.json`.

Both versions of the whole project are built on random databases (small domains, NULLs, duplicates and ties; keys
unique). A column counts as changed if the bag of its values differs in any of them, or if it was removed, added, or
has another type. `rows`: models whose number of rows differs, or whose rows differ although no single column does. An
edit is `harmless` if nothing differs anywhere, apart from added columns (`only_added`). `broken`: the head does not
build. The order of rows and of columns is not compared.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import duckdb

from capture.sql.gate_corpus.corpus import edited, edits, keys, models, raw_tables

DATABASES = 12
WORDS = {
    "status": ["paid", "shipped", "open", "void", "test"],
    "currency": ["EUR", "USD", "CHF"],
    "channel": ["web", "shop", "app"],
    "coupon": ["", "X1", "Y2"],
    "country": ["it", "no", "ch", "IT", "de"],
    "segment": ["gold", "base"],
    "method": ["card", "cash"],
    "device": ["phone", "desk"],
    "kind": ["view", "cart", "buy", "refund"],
    "category": ["toys", "food", "tools"],
    "carrier": ["DHL", "UPS", "GLS"],
    "reason": ["late", "broken"],
    "city": ["Rome", "Oslo", "it"],
    "sku": ["s1", "s2", "s3", "s4"],
    "title": ["s1", "ball", "bread"],
    "name": [" Ann", "Bob ", "Cleo", "Dan"],
    "email": ["A@x", "b@X", "c@x"],
}


def value(rng: random.Random, column: str, kind: str) -> Any:
    if rng.random() < 0.12:
        return None
    if column in WORDS:
        return rng.choice(WORDS[column])
    if kind == "date":
        return f"2026-11-{rng.randint(1, 9):02d}"
    if kind == "boolean":
        return rng.random() < 0.7
    if column in ("minutes",):
        return rng.choice([1, 9, 10, 11, 20, 25, 29, 30, 31, 45])
    if column in ("id", "order_id", "customer_id", "payment_id", "session_id", "referrer_id"):
        return rng.randint(1, 14)
    if column in ("severity", "csat", "value", "qty", "line"):
        return rng.randint(0, 5)
    if column == "rate":
        return rng.choice([0.3, 0.5, 0.9, 1.1])
    return rng.choice([0, 1, 3, 9.5, 10, 12.25, 25, 50, 60, 90, 95, 120])


def database(seed: int) -> duckdb.DuckDBPyConnection:
    rng = random.Random(seed)
    con = duckdb.connect()
    con.execute("create schema raw")
    for table, spec in raw_tables().items():
        con.execute(f"create table raw.{table} ({spec})")
        columns = [one.strip().split(" ", 1) for one in re.split(r",(?![^(]*\))", spec)]
        unique = [one.strip() for one in keys()[table].split(",")]
        seen: set[tuple[Any, ...]] = set()
        rows: list[list[Any]] = []
        for n in range(rng.randint(12, 30)):
            row = {name: value(rng, name, kind) for name, kind in columns}
            if table not in ("order_items", "products", "fx"):
                row["id"] = n + 1
            key = tuple(row[one] for one in unique)
            if key in seen or None in key:
                continue
            seen.add(key)
            rows.append(list(row.values()))
        con.executemany(f"insert into raw.{table} values ({', '.join('?' * len(columns))})", rows)
    return con


def render(text: str) -> str:
    text = re.sub(r"\{\{ *source\('raw', *'(\w+)'\) *\}\}", r"raw.\1", text)
    return re.sub(r"\{\{ *ref\('(\w+)'\) *\}\}", r"\1", text).strip().rstrip(";")


def order(models: Mapping[str, str]) -> list[str]:
    done: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        for other in re.findall(r"ref\('(\w+)'\)", models[name]):
            visit(other)
        done.append(name)

    for name in models:
        visit(name)
    return done


def build(con: duckdb.DuckDBPyConnection, models: Mapping[str, str], schema: str) -> dict[str, str] | None:
    con.execute(f"create schema {schema}; set search_path = '{schema}'")
    for name in order(models):
        try:
            con.execute(f"create table {schema}.{name} as {render(models[name])}")
        except duckdb.Error as error:
            return {"model": name, "message": str(error).splitlines()[0]}
    return None


Tables = dict[str, tuple[list[tuple[str, str]], list[tuple[str, ...]]]]


def tables(con: duckdb.DuckDBPyConnection, schema: str, models: Mapping[str, str]) -> Tables:
    answer: Tables = {}
    for name in models:
        cursor = con.execute(f"select * from {schema}.{name}")
        columns = [(one[0], str(one[1])) for one in cursor.description]
        rows = [tuple(str(cell) for cell in row) for row in cursor.fetchall()]
        answer[name] = (columns, rows)
    return answer


def compare(base: Tables, head: Tables, found: dict[str, set[Any]]) -> None:
    for name, (columns, rows) in base.items():
        other_columns, other_rows = head[name]
        kinds, other_kinds = dict(columns), dict(other_columns)
        found["removed"] |= {(name, one) for one in kinds if one not in other_kinds}
        found["added"] |= {(name, one) for one in other_kinds if one not in kinds}
        found["type"] |= {(name, one) for one in kinds if one in other_kinds and kinds[one] != other_kinds[one]}
        shared = [one for one in kinds if one in other_kinds]
        at = [[one for one, _ in columns].index(c) for c in shared]
        other_at = [[one for one, _ in other_columns].index(c) for c in shared]
        left = Counter(tuple(row[i] for i in at) for row in rows)
        right = Counter(tuple(row[i] for i in other_at) for row in other_rows)
        if left == right:
            continue
        if len(rows) != len(other_rows):
            found["rows"].add(name)
        changed = {
            c
            for c, i, j in zip(shared, at, other_at, strict=True)
            if Counter(r[i] for r in rows) != Counter(r[j] for r in other_rows)
        }
        found["values"] |= {(name, one) for one in changed}
        if not changed:
            found["rows"].add(name)


def main() -> None:
    result = []
    dbs = [database(seed) for seed in range(DATABASES)]
    bases = []
    for con in dbs:
        failed = build(con, models(), "base")
        assert failed is None, failed
        bases.append(tables(con, "base", models()))
    for number, (kind, model, _, _) in enumerate(edits()):
        changed_models = edited(number)
        found: dict[str, set[Any]] = {one: set() for one in ("removed", "added", "type", "values", "rows")}
        broken: dict[str, str] | None = None
        for con, base in zip(dbs, bases, strict=True):
            broken = build(con, changed_models, "head")
            if broken is None:
                compare(base, tables(con, "head", changed_models), found)
            con.execute("set search_path = 'main'; drop schema head cascade")
            if broken:
                break
        harmless = broken is None and not any(found[one] for one in ("removed", "type", "values", "rows"))
        result.append(
            {
                "number": number,
                "kind": kind,
                "model": model,
                "broken": broken,
                "harmless": harmless,
                "only_added": harmless and bool(found["added"]),
                **{one: sorted(map(list, found[one])) if one != "rows" else sorted(found[one]) for one in found},
            }
        )
    json.dump(result, sys.stdout, indent=1)
    harmless_count, broken_count = (sum(bool(one[name]) for one in result) for name in ("harmless", "broken"))
    sys.stderr.write(f"{len(result)} edits, {harmless_count} harmless, {broken_count} broken\n")


if __name__ == "__main__":
    main()
