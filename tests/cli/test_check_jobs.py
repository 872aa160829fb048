"""Jobs that only check data, as `whence impact` and `whence downstream` print them."""

import csv
import json
from io import StringIO
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from whence.cli.commands.app import app
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.write import dataset, facet, run_event

ORDERS, GOLD = DatasetName("db", "shop.orders"), DatasetName("db", "shop.gold")


def ran(job: str, number: int, inputs: list[dict[str, Any]], *writes: DatasetName) -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("prod", job))
    outputs = [dataset(one) for one in writes]
    return json.dumps(run_event(number * 10**6, RunState.COMPLETE, run, inputs=inputs, outputs=outputs)).encode()


def checked(name: DatasetName) -> dict[str, Any]:
    results = facet("DataQualityAssertionsDatasetFacet", assertions=[{"assertion": "not_null", "success": True}])
    return dataset(name, inputFacets={"dataQualityAssertions": results})


SCANS = [ran(f"scan_{number:02}", 10 + number, [checked(ORDERS)]) for number in range(9)]
BODIES = [
    ran("load", 1, [dataset(ORDERS)], GOLD),
    ran("board", 2, [dataset(GOLD)]),
    ran("tests", 3, [checked(GOLD)]),
    ran("scan\x1b[31m", 4, [checked(ORDERS), checked(GOLD)]),
]


@pytest.fixture(autouse=True)
def _empty_store(sqlite_store: Engine) -> None:
    empty(sqlite_store)


def whence(store: Engine, *arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments, "--store", str(store.url)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_an_impact_names_them_apart(sqlite_store: Engine) -> None:
    apply_bodies(sqlite_store, BODIES)
    assert (
        whence(sqlite_store, "impact", "shop.orders")
        == """\
shop.orders  impact
2 nodes, 2 jobs at work
types: dataset (1), job (1)
   1  shop.gold
   2  board  by shop.gold  COMPLETE 1970-01-01T00:00
2 jobs only check data: scan\\x1b[31m, tests
Complete.
"""
    )


def test_of_many_the_nearest_are_named(sqlite_store: Engine) -> None:
    apply_bodies(sqlite_store, [ran("scan", 3, [checked(GOLD)]), *SCANS, BODIES[0]])
    lines = whence(sqlite_store, "impact", "shop.orders").splitlines()
    named = ", ".join(f"scan_0{number}" for number in range(8))
    assert lines[-2] == f"10 jobs only check data: {named} and 2 more: --output json"
    found = json.loads(whence(sqlite_store, "impact", "shop.orders", "--output", "json"))
    assert len(found["checks"]) == found["counts"]["checks"] == 10


def test_nothing_depends_on_what_is_only_checked(sqlite_store: Engine) -> None:
    apply_bodies(sqlite_store, SCANS[:1])
    lines = whence(sqlite_store, "impact", "shop.orders").splitlines()
    assert lines[1:] == ["nothing depends on it", "1 job only checks data: scan_00", "Complete."]


@pytest.mark.parametrize("as_of", [(), ("--as-of", "1970-01-01T00:00:03Z")])
def test_a_tree_and_its_rows_mark_them(sqlite_store: Engine, as_of: tuple[str, ...]) -> None:
    apply_bodies(sqlite_store, BODIES[:3])
    text = whence(sqlite_store, "downstream", "shop.gold", *as_of)
    assert "tests  job that checks it" in text
    assert "board  job that reads it" in text
    rows = list(csv.DictReader(StringIO(whence(sqlite_store, "downstream", "shop.gold", "--output", "csv", *as_of))))
    assert {row["node"]: row["role"] for row in rows} == {
        "dataset:db:shop.gold": "",
        "job:prod:board": "",
        "job:prod:tests": "check",
    }
