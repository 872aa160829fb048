"""What producers report that they do not know: any order of arrival gives the oracle's state."""

import json
from itertools import islice, permutations
from typing import Any

from sqlalchemy import Engine

from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from oracle import comparable
from oracle import dump as oracle_dump
from oracle.stories import column, column_lineage, dataset, dataset_event, history, run
from whence.store.lifecycle.dump import dump

Json = dict[str, Any]
KNOWN: Json = {"fields": {"total": {"inputs": [column("a.k") | {"type": "DATASET"}]}}}


def event(at: int, name: str, lineage: Json, **unexplained: str) -> bytes:
    """A declaration, with the reasons of the columns without a source."""
    reasons = [{"field": field, "reason": reason} for field, reason in unexplained.items()]
    facets: Json = {"lineage": lineage, "whence_columnEvidence": {"unexplained": reasons}}
    return json.dumps(dataset_event(at, name, facets)).encode()


def failed(event: Json) -> Json:
    """The event, with an error of its extraction."""
    return {**event, "run": {**event["run"], "facets": {"extractionError": {"totalTasks": 2, "failedTasks": 1}}}}


def assert_any_order_gives_the_oracles_state(store: Engine, bodies: list[bytes]) -> None:
    """Apply the events in some of their orders."""
    expected = comparable(oracle_dump(bodies))
    for order in islice(permutations(bodies), 0, None, 17):
        empty(store)
        apply_bodies(store, order)
        assert comparable(dump(store)) == expected


def test_declarations_that_differ_in_nothing_else(store: Engine) -> None:
    bodies = [
        event(1, "prod.chart ü", KNOWN, secret="not_captured", n="no_source"),
        event(2, "prod.chart ü", KNOWN, secret="no_source: a constant"),
        event(4, "prod.chart ü", {}, total="opaque_function", secret="not_captured"),
        event(1, "staging.chart", {}, total="not_captured"),
        event(3, "staging.chart", KNOWN, total="not_captured"),
    ]
    assert sum('"origin":"incomplete"' in line for line in oracle_dump(bodies)) == 3
    assert_any_order_gives_the_oracles_state(store, bodies)


def test_runs_that_one_event_makes_good_and_runs_that_none_does(store: Engine) -> None:
    columns = [dataset("prod/ü", column_lineage(x=["a.k"]))]
    events = [
        failed(run(1, "START", 1, "a", "prod/ü")),
        run(1, "COMPLETE", 3, "a", columns),
        failed(run(2, "START", 5, "", "prod/ü")),
        failed(run(2, "COMPLETE", 7, "a", columns)),
        failed(run(3, "RUNNING", 8, "a", "staging/ü")),
    ]
    assert history(events) == [
        "@j observed 3-7 sure: a.k>prod/ü.x a>prod/ü",
        "@j observed 7- sure: !!@j>prod/ü a.k>prod/ü.x a>prod/ü",
    ]
    assert_any_order_gives_the_oracles_state(store, [json.dumps(one).encode() for one in events])
