"""What objectives and incidents say of the past, from a store that has everything, is what was answered then."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from govern.slos.random_objectives import BEGIN, HOUR, LENGTH
from whence.govern.assertions import set_tier
from whence.govern.incidents.current import compute_incidents, read_all_traits, read_incidents, read_streaks
from whence.govern.incidents.documents import act_document, change_document, finding_document, list_document
from whence.govern.incidents.records import act_event
from whence.govern.slos.declared import evaluate_all, evaluate_declared
from whence.govern.slos.documents import slo_row, transition_rows
from whence.govern.slos.records import declaration_event, declaration_of, held_declarations, list_transitions
from whence.govern.slos.slo_file import read_slos
from whence.model.access import OPEN
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.model.records.incidents import ActText, IncidentActRecord
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import column_lineage, dataset, dataset_event, facet, run_event
from whence.query.answers.instants import instant
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

PROD, STAGING, DEV = (f"postgres://{name}:5432" for name in ("prod", "staging", "dev"))
TABLES = (
    DatasetName(PROD, "shop.orders"),
    DatasetName(PROD, "shop.rates"),
    DatasetName(PROD, "shop.revenue"),
    DatasetName(DEV, "[bold]copy\x1b[31m\u202e%2F\n"),
    DatasetName(STAGING, "shop.board"),
)
READS = {2: (0, 1), 3: (0,), 4: (2, 3)}
"""Which tables a job reads for a table; jobs of others read nothing."""
INDICATORS = (
    "freshness: {limit: 5h}",
    "delivery: {by: 08:00}",
    "quality: {metric: nullValues, column: a, unit: percent, mustBeLessThan: 5}",
    "check: {assertion: unique}",
    "schema: {}",
    "lineage: {metric: coverage, atLeast: 60%}",
    "lineage: {metric: unknownUpstream, atMost: 5%}",
    "lineage: {metric: loss}",
)
LOOKS, LOOKS_LONG = 12, 100
ACTS: Sequence[ActText] = ("acknowledge", "mitigate", "resolve", "comment")


def objectives(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Declarations, some of them in the middle of the story, changed or ended."""
    for number in range(8):
        table, at = rng.choice(TABLES), BEGIN + rng.randrange(LENGTH // 2)
        text = (
            f"version: 1\nservice: shop\nslos:\n  - name: objective {number}\n    dataset: {json.dumps(str(table))}\n"
            f"    indicator: {{{INDICATORS[number % len(INDICATORS)]}}}\n    objective: {{target: 90%}}\n"
        )
        (one,) = read_slos(text).objectives
        yield declaration_event(declaration_of(one), table.namespace, at, person_uri("key:ada"))
        if rng.random() < 0.4:
            later = at + rng.randrange(LENGTH // 2)
            yield declaration_event(declaration_of(one, ended=True), table.namespace, later, person_uri("key:ben"))


def runs(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Runs of the jobs: they start, and complete, fail or stop; what they read changes once, and each table lacks a
    column once.
    """
    shortened = set[int]()
    for number, hour in enumerate(sorted(rng.choices(range(LENGTH // HOUR), k=150))):
        place = rng.randrange(len(TABLES))
        run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", f"job {place}"))
        begin = BEGIN + hour * HOUR + rng.randrange(HOUR // 2)
        yield run_event(begin, RunState.START, run)
        state = rng.choice((RunState.COMPLETE,) * 5 + (RunState.FAIL, RunState.ABORT))
        is_short = place not in shortened and hour > 200
        shortened |= {place} if is_short else set()
        sources = READS.get(place, ())[: 2 if hour > 300 else 1]
        yield run_event(
            begin + rng.randrange(1, HOUR // 4),
            state,
            run,
            inputs=[dataset(TABLES[one], inputFacets=_checks(rng)) for one in sources],
            outputs=[_written(rng, place, sources, is_short=is_short)],
        )


def _checks(rng: random.Random) -> dict[str, Any]:
    result = {"assertion": "unique", "column": "a", "success": rng.random() < 0.7}
    return {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=[result])}


def _written(rng: random.Random, place: int, sources: Sequence[int], *, is_short: bool) -> dict[str, Any]:
    name = TABLES[place]
    columns = [{"name": one, "type": "int"} for one in (["a"] if is_short else ["a", "b"])]
    edges = [Edge(source=FieldName(TABLES[one], "a"), target=FieldName(name, "a"), type="DIRECT") for one in sources]
    facets = {"schema": facet("SchemaDatasetFacet", fields=columns), "columnLineage": column_lineage(edges)}
    metrics = {"rowCount": 100, "columnMetrics": {"a": {"nullCount": rng.choice((0, 0, 9))}}}
    return dataset(
        name,
        facets=facets,
        outputFacets={"dataQualityMetrics": facet("DataQualityMetricsInputDatasetFacet", **metrics)},
    )


class LiveStore:
    """A store that events reach one after another, and what it answers."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.events = engine, list[bytes]()

    def add(self, events: Sequence[dict[str, Any]]) -> None:
        bodies = [json.dumps(one).encode() for one in events]
        apply_bodies(self.engine, bodies, len(self.events) + 1)
        self.events += bodies

    def record(self, rng: random.Random, at: int) -> None:
        """What a running server and a person do at a time."""
        with snapshot(self.engine) as connection:
            found = evaluate_all(StoreCatalog(connection), StoreGraph(connection), at).events
        self.add(found)
        with snapshot(self.engine) as connection:
            catalog, graph = StoreCatalog(connection), StoreGraph(connection)
            computed = compute_incidents(catalog, graph, read_streaks(connection, at), at)
        self.add(computed.events)
        if computed.read.incidents and rng.random() < 0.5:
            one = rng.choice(computed.read.incidents)
            act = rng.choice(ACTS)
            record = IncidentActRecord(incident=one.id, dataset=str(one.root), act=act, text="seen")
            self.add([act_event(record, one.root.namespace, at, person_uri("key:ada"))])

    def answer(self, at: int, *, is_past: bool) -> bytes:
        """All objectives with their transitions, and all incidents with findings, changes and acts."""
        with snapshot(self.engine) as connection:
            catalog, graph = StoreCatalog(connection), StoreGraph(connection)
            held = held_declarations(catalog, at)
            rows = [slo_row(one, is_whole=True) for one in evaluate_declared(catalog, graph, held.values(), at)]
            history = {id_: transition_rows(list_transitions(catalog, id_, at)) for id_ in sorted(held)}
            read = read_incidents(catalog, graph, read_streaks(connection, at), at, is_past=is_past)
            traits = read_all_traits(graph, {one.root for one in read.incidents})
            incidents = list_document(read, read.incidents, 0, traits, OPEN)
            details = [
                [
                    [finding_document(each, OPEN) for each in one.findings],
                    [change_document(each, OPEN) for each in one.changes],
                    [act_document(each, OPEN) for each in one.acts],
                ]
                for one in read.incidents
            ]
        return json.dumps([rows, history, incidents, details], sort_keys=True).encode()


def test_answers_about_the_past_are_those_of_a_store_that_ends_there(
    store: Engine, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    rng = random.Random("before")
    is_long = bool(pytestconfig.getoption("long"))
    count = LOOKS_LONG if is_long else LOOKS
    tiers = [
        dataset_event(BEGIN, name, facets={"whence_tier": set_tier(1 + place % 2)}) for place, name in enumerate(TABLES)
    ]
    story = sorted([*objectives(rng), *runs(rng)], key=lambda one: str(one["eventTime"]))
    looks = sorted(rng.sample(range(20, len(story)), count))
    live, then = LiveStore(store), list[tuple[int, int, bytes]]()
    live.add(tiers)
    for begin, end in zip([0, *looks], looks, strict=False):
        live.add(story[begin:end])
        at = _time(story[end - 1]) + 1
        live.record(rng, at)
        then.append((at, len(live.events), live.answer(at, is_past=False)))
    live.add(story[looks[-1] :])
    answers = [json.loads(answer) for _, _, answer in then]
    assert sum(bool(one[2]["incidents"]) for one in answers) > 0.6 * count
    assert {state["state"] for one in answers for state in one[0]} >= {"holds", "violated", "not evaluated"}
    assert {each["state"] for one in answers for each in one[2]["incidents"]} >= {"open", "mitigated", "resolved"}
    for place, (at, end, expected) in enumerate(then):
        assert live.answer(at, is_past=True) == expected, place
        if is_long or place % 10 == 7:
            rebuilt = open_migrated(f"sqlite:///{tmp_path / f'{place}.db'}")
            apply_bodies(rebuilt, live.events[:end])
            again = LiveStore(rebuilt)
            assert again.answer(at, is_past=False) == expected, place
            rebuilt.dispose()


def _time(event: dict[str, Any]) -> int:
    return instant(str(event["eventTime"]), 0)
