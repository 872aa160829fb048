"""Events into a store without Spark: the reader, the merge and the settling of the pipeline, with its stages done here
in plain Python. For tests of what reads the store.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import Engine

from whence.derive.read import read_batches
from whence.derive.schema import DERIVED, ROW_SCHEMA
from whence.derive.sink import merge_chunk
from whence.log import Kind, Lanes, Position, Record
from whence.log.segments.read import committed, read, start
from whence.model.events import RunState
from whence.openlineage.accept import accept
from whence.store.settle import settle


def apply(engine: Engine, records: Sequence[Record], reached: Position) -> None:
    """Merge what the records say, and say how far the store is."""
    apply_lanes(engine, records, {"log": reached})


def apply_lanes(engine: Engine, records: Sequence[Record], reached: Lanes) -> None:
    """The same for a log of several lanes."""
    if records:
        batches = [_staged(batch) for batch in read_batches(records)]
        merge_chunk(engine, pa.Table.from_batches(batches))
    settle(engine, {lane: position.as_int for lane, position in reached.items()})


def apply_bodies(engine: Engine, bodies: Sequence[bytes], first: int = 1) -> None:
    """The same for events that never were in a log."""
    records = [
        Record(position=Position(0, place), kind=Kind.EVENT, key=one.key, received_at=0, payload=one.payload)
        for place, one in enumerate(map(accept, bodies), first)
    ]
    apply(engine, records, Position(0, first + len(records)))


@contextmanager
def applying(engine: Engine, log: Path) -> Iterator[None]:
    """Meanwhile what is appended to a log in segments comes into the store."""
    ended = threading.Event()
    thread = threading.Thread(target=_follow, args=(engine, log, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _follow(engine: Engine, log: Path, ended: threading.Event) -> None:
    reached = start(log)
    while not ended.wait(0.005):
        end = committed(log)
        if reached < end:
            apply(engine, list(read(log, reached, end)), end)
            reached = end


def _staged(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The stages of `derive.stages`, row by row."""
    rows = [_row(row) for row in batch.select(_READ).to_pylist()]
    derived = {name: pa.array([row[name] for row in rows], type_) for name, type_ in DERIVED.items()}
    reasons = pa.array([row["reason"] for row in rows], pa.string())
    columns = {**{name: batch.column(name) for name in batch.schema.names}, **derived, "reason": reasons}
    return pa.RecordBatch.from_arrays([columns[name] for name in ROW_SCHEMA.names], schema=ROW_SCHEMA)


_READ = ["kind", "reason", "state", "time", "run_node", "version", "declarer", "event_id"]


def _row(one: dict[str, Any]) -> dict[str, Any]:
    state, is_event = one["state"], one["kind"] is not None
    return {
        "reason": None if is_event else one["reason"] or "",
        "rank": min(state, RunState.COMPLETE) if is_event else None,
        "started_at": one["time"] if is_event and state == RunState.START else None,
        "aborted_at": one["time"] if is_event and state == RunState.ABORT else None,
        "failed_at": one["time"] if is_event and state == RunState.FAIL else None,
        "terminals": 1 << state if is_event and state >= RunState.COMPLETE else 0,
        "witness": one["run_node"] if one["run_node"] is not None and one["version"] else None,
        "declaration": one["event_id"] if one["declarer"] is not None else None,
    }
