"""Charts that declare their lineage, and runs: both say of what they do not know the sources."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from whence.cli.answers.local.options import answer_of
from whence.cli.answers.tree import Style, tree
from whence.client.answers.graph import Lineage
from whence.query.answers.values import Question
from whence.query.lookup.resolve import resolve
from whence.query.questions.lineage import reach_downstream, reach_upstream
from whence.query.rendering.listings import lineage_listing
from whence.store.connection.engine import reading, sqlite_url
from whence.store.snapshots.graph import StoreGraph

Json = dict[str, Any]

AMOUNT = {"type": "DATASET", "namespace": "db", "name": "orders", "field": "amount"}
ERROR = {"_producer": "p", "_schemaURL": "u", "totalTasks": 2, "failedTasks": 1, "errors": []}
LINEAGE = {"fields": {"total": {"inputs": [AMOUNT | {"transformations": [{"type": "DIRECT"}]}]}}}


def declaration(chart: str, lineage: Json, **unexplained: str) -> bytes:
    """The event that declares a chart, with the reasons of columns without a source."""
    reasons = [{"field": field, "reason": reason} for field, reason in unexplained.items()]
    fields = [{"name": field} for field in (*lineage.get("fields", ()), *unexplained)]
    facets = {
        "schema": {"_producer": "p", "_schemaURL": "u", "fields": fields},
        "lineage": {"_producer": "p", "_schemaURL": "u", **lineage},
        "whence_columnEvidence": {"_producer": "p", "_schemaURL": "u", "method": "sql", "unexplained": reasons},
    }
    dataset = {"namespace": "bi", "name": chart, "facets": facets}
    return json.dumps(
        {"eventTime": "2026-01-01T00:00:00Z", "producer": "p", "schemaURL": "s", "dataset": dataset}
    ).encode()


def loading(**facets: Json) -> bytes:
    """A run that derives a copy from the column `amount`, with facets of the run."""
    lineage = {"fields": {"amount": {"inputFields": [{"namespace": "db", "name": "orders", "field": "amount"}]}}}
    facet = {"columnLineage": {"_producer": "p", "_schemaURL": "u", **lineage}}
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "p",
        "schemaURL": "s",
        "run": {"runId": "01900000-0000-7000-8000-000000000001", "facets": facets},
        "job": {"namespace": "airflow", "name": "load"},
        "inputs": [{"namespace": "db", "name": "orders"}],
        "outputs": [{"namespace": "db", "name": "copy", "facets": facet}],
    }
    return json.dumps(event).encode()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Engine]:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    known = declaration("sales", LINEAGE, secret="not_captured", n="no_source")
    apply_bodies(engine, [known, declaration("dark", {}, all="not_captured")])
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("bi:sales:total", "Complete: 2 nodes, 1 edge, 1 hop."),
        ("bi:sales:n", "Complete: nothing upstream is known."),
        ("bi:sales:secret", "? it is made of orders; not all sources are known"),
        ("bi:dark:all", "? not all of its sources are known"),
    ],
)
def test_upstream_of_a_chart_is_complete_only_if_its_sources_are_known(store: Engine, node: str, expected: str) -> None:
    assert expected in answer(store, f"datasetField:{node}", "upstream")


def test_downstream_says_which_chart_may_show_the_column(store: Engine) -> None:
    shown = answer(store, "datasetField:db:orders:amount", "downstream")
    assert "sales.total" in shown
    assert "? sales is made of it; not all sources are known" in shown
    assert "Not complete" in shown


@pytest.mark.parametrize("node", ["dataset:db:copy", "datasetField:db:copy:amount"])
def test_an_error_of_extraction_is_said_beside_columns(store: Engine, node: str) -> None:
    apply_bodies(store, [loading(extractionError=ERROR)])
    shown = answer(store, node, "upstream")
    assert "orders" in shown
    assert "load" in shown
    assert "it reports that it does not know all sources" in shown
    assert "Sources not known" in shown


def test_a_job_with_an_error_of_extraction_is_incomplete_upstream_itself(store: Engine) -> None:
    apply_bodies(store, [loading(extractionError=ERROR)])
    shown = answer(store, "job:airflow:load", "upstream")
    assert "orders" in shown
    assert "Not complete: 2 nodes" in shown
    assert "Sources not known: some jobs report that they do not know all sources of what they write, at load." in shown
    assert "Complete: " in answer(store, "job:airflow:load", "downstream")


@pytest.mark.parametrize("node", ["dataset:db:copy", "datasetField:db:copy:amount", "job:airflow:load"])
def test_without_an_error_nothing_is_said(store: Engine, node: str) -> None:
    apply_bodies(store, [loading()])
    assert "Complete: " in answer(store, node, "upstream")


def answer(store: Engine, node: str, direction: str) -> str:
    """The answer as a person reads it."""
    with reading(store) as connection:
        graph = StoreGraph(connection)
        reach = reach_upstream if direction == "upstream" else reach_downstream
        found = answer_of(lineage_listing(reach(graph, resolve(graph, node), Question())), Lineage)
    return "\n".join(line.plain for line in tree(found, Style(now=0, width=120)))
