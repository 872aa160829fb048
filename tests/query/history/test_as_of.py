"""As of a time: what all events together say of it is what those up to then say, at 200 random times, in the tables
and in arrays.

Runs say all in one event here, and arrive in any order.
"""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, select

from fixtures.stores_of_events import apply_bodies
from whence.model.graph import Direction, EdgeRow, Grain, Hop
from whence.store.adjacency.build import build_csr
from whence.store.adjacency.overlay import StoreAdjacency
from whence.store.connection.engine import open_store, reading, sqlite_url
from whence.store.migrations.migrate import migrate
from whence.store.schema.tables import dataset, field, job
from whence.store.snapshots.graph import StoreGraph

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
SECONDS = 100_000
TABLES = [f"t{number}" for number in range(8)]
PRODUCER = "https://example.org/as-of"
SCHEMA = "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"


def make_event(rng: random.Random, number: int, second: int) -> dict[str, Any]:
    """A run of one of five jobs, as it ended: it reads two tables and writes one, of whose columns it may speak."""
    read, written = rng.sample(TABLES, 2), rng.choice(TABLES)
    outputs: list[dict[str, Any]] = [{"namespace": "db", "name": written}]
    if rng.random() < 0.7:
        columns = {
            f"c{one}": {
                "inputFields": [
                    {"namespace": "db", "name": rng.choice(read), "field": f"c{rng.randrange(3)}"}
                    | {"transformations": [{"type": rng.choice(("DIRECT", "INDIRECT"))}]}
                ]
            }
            for one in rng.sample(range(3), 2)
        }
        facet = {"_producer": PRODUCER, "_schemaURL": SCHEMA, "fields": columns}
        outputs[0]["facets"] = {"columnLineage": facet}
    return {
        "eventType": rng.choices(("COMPLETE", "FAIL", "ABORT"), (8, 1, 1))[0],
        "eventTime": (BEGAN + timedelta(seconds=second)).isoformat(),
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"00000000-0000-4000-8000-{number:012d}"},
        "job": {"namespace": "jobs", "name": f"job{rng.randrange(5)}"},
        "inputs": [{"namespace": "db", "name": name} for name in read],
        "outputs": outputs if rng.random() < 0.9 else [],
    }


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two empty ones."""
    engines = [open_store(sqlite_url(tmp_path / f"{name}.db")) for name in ("whole", "until")]
    for engine in engines:
        migrate(engine)
    yield engines[0], engines[1]
    for engine in engines:
        engine.dispose()


def test_as_of_is_what_was_said_by_then(stores: tuple[Engine, Engine]) -> None:
    rng = random.Random(11)
    whole, until = stores
    seconds = sorted(rng.sample(range(SECONDS), 150))
    events = [make_event(rng, number, second) for number, second in enumerate(seconds)]
    apply_bodies(whole, [json.dumps(one).encode() for one in rng.sample(events, len(events))])
    with reading(whole) as connection:
        graph = StoreGraph(connection)
        arrays = StoreAdjacency(connection, build_csr(connection))
        nodes = [id_ for table in (dataset, field, job) for id_ in connection.execute(select(table.c.id)).scalars()]
        applied, states = 0, set[frozenset[EdgeRow]]()
        for second in sorted(rng.sample(range(SECONDS), 200)):
            due = [one for at, one in zip(seconds, events, strict=True) if at <= second][applied:]
            if due:
                apply_bodies(until, [json.dumps(one).encode() for one in due], 1 + applied)
                applied += len(due)
            with reading(until) as then:
                expected = edges(StoreGraph(then), nodes, None)
            at = int((BEGAN + timedelta(seconds=second)).timestamp()) * 1_000_000
            assert edges(graph, nodes, at) == expected
            past = arrays.as_of(at)
            assert past is not None
            assert edges_of(past) == expected
            states.add(frozenset(expected))
    assert applied > 100
    assert len(states) > 40


def edges(graph: StoreGraph, nodes: list[int], at: int | None) -> set[EdgeRow]:
    """All that hold."""
    return set(graph.edges(nodes, Hop(Direction.DOWNSTREAM, Grain.JOB, at), 1_000_000))


def edges_of(arrays: StoreAdjacency) -> set[EdgeRow]:
    """Likewise, of arrays."""
    found = arrays.edges(np.arange(arrays.count), Direction.DOWNSTREAM, Grain.JOB, 1_000_000)
    return set(arrays.rows(found.key, Direction.DOWNSTREAM))
