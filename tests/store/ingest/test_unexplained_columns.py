"""Columns that a declared dataset leaves open: any order of arrival gives the oracle's state."""

import json
from itertools import islice, permutations
from typing import Any

from sqlalchemy import Engine

from fixtures.readings_of_events import empty
from fixtures.stores_of_events import apply_bodies
from oracle import comparable
from oracle import dump as oracle_dump
from oracle.stories import column, dataset_event
from whence.store.lifecycle.dump import dump

Json = dict[str, Any]
KNOWN: Json = {"fields": {"total": {"inputs": [column("a.k") | {"type": "DATASET"}]}}}


def event(at: int, name: str, lineage: Json, **unexplained: str) -> bytes:
    """A declaration, with the reasons of the columns without a source."""
    reasons = [{"field": field, "reason": reason} for field, reason in unexplained.items()]
    facets: Json = {"lineage": lineage, "whence_columnEvidence": {"unexplained": reasons}}
    return json.dumps(dataset_event(at, name, facets)).encode()


def test_declarations_that_differ_in_nothing_else(store: Engine) -> None:
    bodies = [
        event(1, "prod.chart ü", KNOWN, secret="not_captured", n="no_source"),
        event(2, "prod.chart ü", KNOWN, secret="no_source: a constant"),
        event(4, "prod.chart ü", {}, total="opaque_function", secret="not_captured"),
        event(1, "staging.chart", {}, total="not_captured"),
        event(3, "staging.chart", KNOWN, total="not_captured"),
    ]
    expected = comparable(oracle_dump(bodies))
    assert sum('"origin":"incomplete"' in line for line in expected) == 3
    for order in islice(permutations(bodies), 0, None, 17):
        empty(store)
        apply_bodies(store, order)
        assert comparable(dump(store)) == expected
