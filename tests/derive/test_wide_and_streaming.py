"""What must not grow: a wide table with its pairs of columns, a streaming run with its events (rules 42 and 17)."""

import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, func, select

from fixtures.readings_of_events import arrive, empty, readings_of
from openlineage.test_wide import compact, copied
from whence.store.connection.engine import reading
from whence.store.lifecycle.dump import dump
from whence.store.schema.tables import DERIVED, FACTS, event, validity_interval

HOUR = 3_600_000_000
CLICKS = {"namespace": "kafka://broker:9092", "name": "clicks"}


def rows(engine: Engine) -> dict[str, int]:
    """How many rows each table has."""
    with reading(engine) as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (*FACTS, *DERIVED)
        }


def merge(engine: Engine, bodies: list[bytes]) -> None:
    empty(engine)
    arrive(engine, readings_of(bodies), [len(bodies)])


def lineage(engine: Engine) -> list[str]:
    """The edges that hold, and the sets that say so."""
    kinds = ("set", "edge", "validity_interval", "field")
    facts = [(json.loads(line), line) for line in dump(engine)]
    return [line for fact, line in facts if {fact.get("fact"), fact.get("derived")} & {*kinds} and "first" not in fact]


def test_copied_pairs_are_stored_as_columns_and_answer_alike(store: Engine) -> None:
    columns = 150
    merge(store, [copied(columns)])
    older, held = rows(store), lineage(store)
    merge(store, [compact(columns)])
    assert held == lineage(store)
    assert older == rows(store)
    assert older["edge"] <= 2 * columns + 4


def running(number: int, of: int) -> bytes:
    """One of the events of a streaming run: it reads and writes, and says how much of late."""
    output: dict[str, Any] = {
        "namespace": "s3://lake",
        "name": "events",
        "facets": {"columnLineage": {"fields": {"value": {"inputFields": [CLICKS | {"field": "value"}]}}}},
        "outputFacets": {"outputStatistics": {"rowCount": number}},
    }
    return json.dumps(
        {
            "eventType": "START" if number == 0 else "RUNNING",
            "eventTime": f"{datetime(2026, 11, 1) + timedelta(days=1) * number / of:%Y-%m-%dT%H:%M:%SZ}",
            "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/flink",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"},
            "job": {
                "namespace": "flink",
                "name": "clicks",
                "facets": {"jobType": {"processingType": "STREAMING", "integration": "FLINK"}},
            },
            "inputs": [CLICKS],
            "outputs": [output],
        }
    ).encode()


def test_events_of_a_streaming_run_add_no_rows_to_the_graph(store: Engine) -> None:
    counts: list[Counter[str]] = []
    for number in (5, 100):
        merge(store, [running(one, number) for one in range(number)])
        counts.append(Counter(rows(store)))
    assert set(counts[1] - counts[0]) == {"event"}
    assert counts[1]["event"] == 100


def test_the_lineage_of_a_streaming_run_is_there_all_day(store: Engine) -> None:
    merge(store, [running(one, 24) for one in range(24)])
    with reading(store) as connection:
        first, last = connection.execute(select(func.min(event.c.time), func.max(event.c.time))).one()
        spans = connection.execute(select(validity_interval.c.valid_from, validity_interval.c.valid_to)).all()
    assert last - first == 23 * HOUR
    assert spans
    assert all(begin == first and end > last for begin, end in spans), "in any window in which the run was observed"
