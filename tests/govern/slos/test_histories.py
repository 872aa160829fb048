"""Violated objectives among what changed upstream, and as evidence for possible causes."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.govern.slos.declared import evaluate_all
from whence.govern.slos.records import declaration_event, declaration_of
from whence.govern.slos.slo_file import read_slos
from whence.model.events import RunState
from whence.model.graph import Grain
from whence.model.ids import node_id
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.model.symptom import Symptom
from whence.openlineage.write import dataset, run_event
from whence.query.answers.instants import instant
from whence.query.answers.values import Completeness, Question
from whence.query.diagnosis.diagnosis import diagnose
from whence.query.history.changes.objectives import ObjectiveChange, objective_changes
from whence.query.history.changes.period import Period
from whence.query.history.changes.scope import Scope
from whence.query.history.changes.timeline import upstream_changes
from whence.query.history.changes.values import Change, ChangeKind
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

HOUR, NOW = 3_600_000_000, instant("2026-11-20T09:00", 0)
RAW, RATES, GOLD = (DatasetName("db", name) for name in ("raw", "rates", "gold"))
WRITERS = {"load": ((), RAW), "rates": ((), RATES), "build": ((RAW, RATES), GOLD)}
FILE = """\
version: 1
service: shop
slos:
  - {name: raw-fresh, dataset: "dataset:db:raw", indicator: {freshness: {limit: 26h}}, objective: {target: 99%}}
  - {name: rates-fresh, dataset: "dataset:db:rates", indicator: {freshness: {limit: 26h}}, objective: {target: 99%}}
"""


def run(job: str, at: int) -> dict[str, Any]:
    inputs, output = WRITERS[job]
    name = RunName(f"01890000-0000-7000-8000-{at // HOUR:012}", JobName("cron", job))
    return run_event(at, RunState.COMPLETE, name, inputs=list(map(dataset, inputs)), outputs=[dataset(output)])


@pytest.fixture
def late(store: Engine) -> Engine:
    """All jobs run each day at 6; `load` stops two days ago."""
    days = [(job, NOW - (24 * day + 3) * HOUR) for day in range(12) for job in WRITERS]
    events = [run(job, at) for job, at in days if job != "load" or at < NOW - 48 * HOUR]
    at = NOW - 300 * HOUR
    declared = [declaration_event(declaration_of(one), "db", at, "test") for one in read_slos(FILE).objectives]
    apply_bodies(store, [json.dumps(one).encode() for one in (*declared, *events)])
    with snapshot(store) as connection:
        found: Sequence[dict[str, Any]] = evaluate_all(StoreCatalog(connection), StoreGraph(connection), NOW).events
    apply_bodies(store, [json.dumps(one).encode() for one in found], 500)
    return store


def test_a_violated_objective_is_a_change_with_its_event_and_evidence_for_a_cause(late: Engine) -> None:
    period, violated = Period(since=NOW - 60 * HOUR, until=NOW, is_now=True), NOW - 25 * HOUR
    with snapshot(late) as connection:
        catalog, graph = StoreCatalog(connection), StoreGraph(connection)
        rules = EvaluatedContracts(catalog, graph)
        changes = upstream_changes(graph, rules, GOLD, period, Question()).changes
        (one,) = [each for each in changes if each.kind is ChangeKind.OBJECTIVE]
        assert (one.node, one.change, one.time, one.distance) == (RAW, Change.VIOLATED, violated, 1)
        assert one.parts[0].name == "shop/raw-fresh"
        assert one.event is not None
        causes = diagnose(graph, rules, GOLD, period, Question(), Symptom.LATE).causes
        first = causes[0]
        assert first.dataset == RAW
        texts = [fact.text for fact in first.evidence if fact.kind == "objective"]
        assert len(texts) == 1
        assert texts[0].startswith("objective shop/raw-fresh is violated: ")
        assert not [fact for each in causes[1:] for fact in each.evidence if fact.kind == "objective"]
        before = Period(since=NOW - 60 * HOUR, until=violated - 1, is_now=False)
        earlier = upstream_changes(graph, rules, GOLD, before, Question()).changes
        assert not [each for each in earlier if each.kind is ChangeKind.OBJECTIVE]


def test_an_objective_of_a_column_counts_on_the_way_of_that_column_only() -> None:
    id_ = node_id(RAW)
    scope = Scope(
        root=FieldName(GOLD, "total"),
        grain=Grain.FIELD,
        completeness=Completeness(
            complete=True,
            stopped_by=None,
            depth_reached=1,
            frontier=(),
            frontier_nodes=0,
            as_of=None,
            graph_version="",
        ),
        columns={id_: frozenset({"amount"})},
        names={id_: RAW},
        distances={id_: 1},
        edge_ends=frozenset(),
        not_known=(),
    )
    changes = [
        ObjectiveChange(time=NOW, change=Change.VIOLATED, dataset=RAW, objective=column or "fresh", column=column)
        for column in ("amount", "country", "")
    ]
    changes.append(ObjectiveChange(time=NOW, change=Change.VIOLATED, dataset=RATES, objective="elsewhere"))
    assert [one.node for one in objective_changes(changes, scope)] == [FieldName(RAW, "amount"), RAW]
