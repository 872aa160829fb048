"""Histories whose runs repeat one another, settled at once: as the oracle, which folds every statement anew, says."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fixtures.confidential_events import facet_with
from fixtures.examples import examples
from fixtures.stores_of_events import apply_bodies
from oracle import dump as oracle_dump
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.lifecycle.dump import dump
from whence.store.migrations.migrate import migrate

Run = tuple[str, int]
"""State, and which of some lineages the run reports."""

runs = st.lists(st.tuples(st.sampled_from(["START", "COMPLETE", "FAIL"]), st.integers(0, 3)), min_size=1, max_size=8)


def body(number: int, run: Run) -> bytes:
    state, lineage = run
    source = {"namespace": "db", "name": f"a{lineage % 2}"}
    output: dict[str, Any] = {"namespace": "db", "name": "b"}
    if lineage == 2:
        how = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
        used = {**source, "field": "x", "transformations": [how]}
        output["facets"] = {"columnLineage": facet_with(fields={"y": {"inputFields": [used]}})}
    event = {
        "eventType": state,
        "eventTime": f"2026-01-01T00:{number:02}:00Z",
        "producer": "https://example.org/tool",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"019b3a1c-0000-7000-8000-0000000000{number:02}"},
        "job": {"namespace": "n", "name": "load"},
        "inputs": [source],
        "outputs": [] if lineage == 3 else [output],
    }
    return json.dumps(event).encode()


@given(runs, st.integers(0, 8))
@example([("START", 0), ("START", 0), ("COMPLETE", 0)], 0)
@example([("COMPLETE", 3), ("START", 3), ("COMPLETE", 3), ("FAIL", 0)], 2)
@settings(max_examples=examples(40), deadline=None)
def test_a_history_of_repetitions_is_the_oracles(history: list[Run], early: int) -> None:
    bodies = [body(number, run) for number, run in enumerate(history)]
    with TemporaryDirectory() as directory:
        engine = open_store(sqlite_url(Path(directory) / "store.db"))
        migrate(engine)
        # The later runs first, so that the others change the beginning of a stored history.
        for first, some in ((1, bodies[early:]), (50, bodies[:early])):
            if some:
                apply_bodies(engine, some, first)
        lines = list(dump(engine))
        engine.dispose()
    assert lines == oracle_dump(bodies)
