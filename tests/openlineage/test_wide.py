"""Wide tables: what Spark copies into every field is read and kept in proportion to the columns (rule 42)."""

import json
import tracemalloc
from typing import Any

import msgspec
import pytest

import oracle
from generators import mutations
from oracle.nodes import text
from whence.model.events import RunEvent
from whence.openlineage.accept import accept
from whence.openlineage.json import interning as repeats
from whence.openlineage.json.wire import encode_canonical
from whence.openlineage.lineage_sets.event_lineage import derive_lineage_sets

IDENTITY = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
GROUP_BY = {"type": "INDIRECT", "subtype": "GROUP_BY", "description": "", "masking": False}


def source(column: int, *how: dict[str, Any]) -> dict[str, Any]:
    return {"namespace": "s3://lake", "name": "raw/wide", "field": f"column_{column}", "transformations": list(how)}


def run_event(column_lineage: dict[str, Any]) -> bytes:
    return json.dumps(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-03-01T10:00:00Z",
            "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.20.0/integration/spark",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": "0190b3a1-7d1e-7b3a-9c55-3f1f5b0c7a10"},
            "job": {"namespace": "lake", "name": "distinct"},
            "inputs": [{"namespace": "s3://lake", "name": "raw/wide"}],
            "outputs": [{"namespace": "s3://lake", "name": "gold/wide", "facets": {"columnLineage": column_lineage}}],
        }
    ).encode()


def copied(columns: int) -> bytes:
    """DISTINCT as openlineage-spark writes it by default: all sources under each field, its own one with both ways."""
    return run_event(
        {
            "fields": {
                f"column_{target}": {
                    "inputFields": [
                        source(one, IDENTITY, GROUP_BY) if one == target else source(one, GROUP_BY)
                        for one in range(columns)
                    ]
                }
                for target in range(columns)
            }
        }
    )


def compact(columns: int) -> bytes:
    """The same as it writes it with `columnLineage.datasetLineageEnabled`."""
    return run_event(
        {
            "fields": {f"column_{one}": {"inputFields": [source(one, IDENTITY)]} for one in range(columns)},
            "dataset": [source(one, GROUP_BY) for one in range(columns)],
        }
    )


def test_copies_under_every_field_say_what_the_compact_form_says() -> None:
    older, newer = copied(300), compact(300)
    assert len(older) > repeats.WIDE_BYTES > len(newer)
    assert derive_lineage_sets(accept(older).event) == derive_lineage_sets(accept(newer).event)


def test_the_oracle_reads_wide_lineage_alike() -> None:
    body = copied(100)
    event = accept(body).event
    assert isinstance(event, RunEvent)
    accepted_edges = {(str(one.source), str(one.target), one.type) for one in event.outputs[0].edges}
    found = {
        edges
        for output, level, origin, edges in oracle.read(body).sets
        if (level, origin) == ("field", "columnLineage")
    }
    assert accepted_edges == {(text(edge[0]), text(edge[1]), edge[2]) for edges in found for edge in edges}
    assert len(accepted_edges) == 200


def test_wide_lineage_takes_memory_in_proportion_to_its_text() -> None:
    body = copied(300)
    tracemalloc.start()
    accepted = accept(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(len(one.edges) for one in derive_lineage_sets(accepted.event)) <= 2 * 300 + 4
    # Canonical JSON, in lower case too, then as a facet. Decoded one by one, the pairs take 13 times their text.
    assert peak < 2.5 * len(body)


def test_a_secret_in_what_repeats_is_taken_out_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "WIDE_BYTES", 0)
    secret = source(0, GROUP_BY | {"description": "postgres://me:hunter2@db/x"})
    accepted = accept(run_event({"fields": {name: {"inputFields": [secret]} for name in "abc"}}))
    assert b"hunter2" not in accepted.payload
    assert "/: 3 secrets redacted" in accepted.warnings


def test_what_repeats_is_decoded_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [body for body in mutations(seed=5, n=4_000) if b"inputFields" in body]
    plain = [_decoded(body) for body in bodies]
    monkeypatch.setattr(repeats, "WIDE_BYTES", 0)
    assert [_decoded(body) for body in bodies] == plain
    assert sum(one is not None for one in plain) > 200


def _decoded(body: bytes) -> bytes | None:
    try:
        return encode_canonical(repeats.decode_interned(body))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
