"""Expressions of ibis on DuckDB, polars and SQLite against lineage that was written from their code alone."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from client.tests.frames.sessions import describe, read_cases
from environments import environment

HERE = Path(__file__).parent
CLIENT = HERE.parents[2] / "client"
CASES = read_cases("ibis.txt", HERE)
ODD = 'it\'s "odd"'


def run(folder: Path, code: str) -> list[dict[str, Any]]:
    """The events of a program of ibis, in an environment of its own."""
    (folder / "orders.csv").write_text("id,who,amount,day\n1,a,2.5,mon\n2,b,3.5,tue\n")
    (folder / "people.csv").write_text("who,city\na,Rome\nb,Bern\n")
    python = environment("ibis", HERE / "ibis.lock") / "bin/python"
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join((str(CLIENT / "src"), str(CLIENT.parent)))}
    done = subprocess.run(
        [str(python), "-c", f"{BEGIN}\n{code}\n{END}"],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    events: list[dict[str, Any]] = json.loads((folder / "events.json").read_text())
    assert not json.loads((folder / "errors.json").read_text())
    return events


BEGIN = """
import json
import ibis
from ibis import _
from client.tests.frames.sessions import Kept
from whence_client.ibis import capture
session = Kept()
undo = capture.install(session)
backend = "duckdb"
"""
END = """
json.dump(session.events, open("events.json", "w"))
json.dump(session.take_errors(), open("errors.json", "w"))
"""


@pytest.mark.parametrize("backend", ["duckdb", "polars"])
def test_every_expression_has_the_lineage_of_its_code(backend: str, tmp_path: Path) -> None:
    """All expressions in one program: each is written to a file of its own."""
    lines = [f'con = ibis.{backend}.connect()\norders, people = con.read_csv("orders.csv"), con.read_csv("people.csv")']
    chosen = {title: text for title, text in CASES.items() if backend == "duckdb" or "(duckdb)" not in title}
    for number, text in enumerate(chosen.values()):
        code = "\n".join(line for line in text.splitlines() if " <- " not in line)
        lines.append(f"{code}\nout.to_parquet('out{number}.parquet')")
    events = run(tmp_path, "\n".join(lines))
    assert len(events) == len(chosen)
    wrong = {}
    for (title, text), event in zip(chosen.items(), events, strict=True):
        expected = "\n".join(line for line in text.splitlines() if " <- " in line)
        if describe(event) != expected:
            wrong[title] = f"{describe(event)}\n  instead of\n{expected}"
    assert not wrong, "\n".join(f"## {title}\n{text}" for title, text in wrong.items())


def test_tables_of_files_and_databases(tmp_path: Path) -> None:
    events = run(
        tmp_path,
        """
import pandas as pd
con = ibis.duckdb.connect("shop.ddb")
made = con.create_table("totals", con.read_csv("orders.csv").group_by("who").agg(total=_.amount.sum()))
con.insert("totals", con.read_csv("orders.csv").select("who", total=_.amount))
lite = ibis.sqlite.connect("shop.sqlite")
lite.create_table("totals", made.to_pyarrow())
lite.table("totals").select("total").to_csv("out.csv")
con.create_table("kept", made.filter(_.total > 1), temp=True)
con.table("kept").to_parquet("kept.parquet")
con.create_view("seen", made.select("who"))
""",
    )
    outputs = [(one["outputs"][0]["namespace"], one["outputs"][0]["name"]) for one in events]
    duckdb, sqlite = f"duckdb://{tmp_path}/shop.ddb", f"sqlite://{tmp_path}/shop.sqlite"
    assert outputs == [
        (duckdb, "shop.main.totals"),
        (duckdb, "shop.main.totals"),
        (sqlite, "totals"),
        ("file", f"{tmp_path}/out.csv"),
        ("file", f"{tmp_path}/kept.parquet"),
        (duckdb, "shop.main.seen"),
    ]
    assert [describe(one).splitlines() for one in events] == [
        ["who <- orders.who", "total <- orders.amount", "* <- orders.who:GROUP_BY"],
        ["who <- orders.who", "total <- orders.amount"],
        ["who <- shop.main.who", "total <- shop.main.total"],
        ["total <- totals.total"],
        ["who <- shop.main.who", "total <- shop.main.total", "* <- shop.main.total:FILTER"],
        ["who <- shop.main.who"],
    ]
    assert events[0]["run"]["runId"] == events[1]["run"]["runId"]


def test_frames_in_memory_and_functions_are_announced(tmp_path: Path) -> None:
    events = run(
        tmp_path,
        """
@ibis.udf.scalar.python
def shout(text: str) -> str:
    return text.upper()
con = ibis.duckdb.connect()
orders = con.read_csv("orders.csv")
orders.select(loud=shout(orders.who)).to_csv("out.csv")
con.create_table("made", ibis.memtable({"a": [1]}))
con.sql("select 1 as one").to_csv("text.csv")
""",
    )
    assert [describe(one) for one in events] == [
        "loud <- orders.who ! opaque_function",
        "a <- ! left_the_engine",
        "one <- ! not_captured",
    ]


@pytest.mark.parametrize("stage", ["dev", "staging lake ü", "prod%20"])
def test_each_stage_has_its_own_files_and_tables(stage: str, tmp_path: Path) -> None:
    for one in ("dev", "staging lake ü", "prod%20"):
        (tmp_path / one).mkdir()
    events = run(
        tmp_path,
        f"""
import shutil
stage = {stage!r}
shutil.copy("orders.csv", f"{{stage}}/orders #1.csv")
con = ibis.duckdb.connect(f"{{stage}}/shop.ddb")
read = con.read_csv(f"{{stage}}/orders #1.csv").rename({{{ODD!r}: "who"}})
con.create_table("Orders.v1 ü", read)
con.table("Orders.v1 ü").to_parquet(f"{{stage}}/o'ut.parquet")
""",
    )
    folder = tmp_path / stage
    source, table, target = (
        ("file", f"{folder}/orders #1.csv"),
        f"duckdb://{folder}/shop.ddb",
        ("file", f"{folder}/o'ut.parquet"),
    )
    assert [(one["namespace"], one["name"]) for one in events[0]["inputs"]] == [source]
    made = events[0]["outputs"][0]
    assert made["namespace"] == table
    assert "Orders.v1 ü" in made["name"]
    assert [(one["namespace"], one["name"]) for one in events[1]["inputs"]] == [(table, made["name"])]
    written = events[1]["outputs"][0]
    assert (written["namespace"], written["name"]) == target
    fields = written["facets"]["columnLineage"]["fields"]
    assert [one["field"] for one in fields[ODD]["inputFields"]] == [ODD]


def test_what_fails_is_not_reported_and_an_error_of_a_hook_does_not_reach_the_job(tmp_path: Path) -> None:
    events = run(
        tmp_path,
        """
con = ibis.duckdb.connect()
orders = con.read_csv("orders.csv")
for failing in (lambda: orders.to_csv("absent/out.csv"), lambda: con.read_csv("absent.csv"), lambda: con.table("no")):
    try:
        failing()
    except Exception:
        pass
    else:
        raise AssertionError("it should have failed")
orders.to_csv("out.csv")
import whence_client.ibis.hooks as hooks
def broken(*anything):
    raise OSError("broken")
hooks.name_file = broken
orders.to_csv("again.csv")
assert open("again.csv").read() == open("out.csv").read()
assert session.guard("ibis").take_errors() == {"ibis: to_csv": "OSError: broken"}
""",
    )
    assert [one["outputs"][0]["name"] for one in events] == [str(tmp_path / "out.csv")]


def test_undo_leaves_no_trace(tmp_path: Path) -> None:
    assert not run(
        tmp_path,
        """
import sys
undo()
def members():
    return {
        (name, member, inner): one
        for name, module in list(sys.modules.items()) if name.startswith("ibis")
        for member, value in list(vars(module).items()) if isinstance(value, type)
        for inner, one in list(vars(value).items())
    }
ibis.duckdb.connect(), ibis.sqlite.connect()
before = members()
again = capture.install(session)
capture.install(session)()
assert any(one is not before.get(key) for key, one in members().items())
ibis.duckdb.connect()
again()
ibis.duckdb.connect().sql("select 1 as a").to_csv("out.csv")
assert [key for key, one in members().items() if before.get(key) is not one and key in before] == []
""",
    )
