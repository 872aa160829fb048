"""CPU of one core that an event takes, station by station, without Spark: `python -m bench.measures.event_cpu`.

Beside each number is its ratio to a plain msgspec decode of the same bodies in the same run. The machine and its load
change both alike, so `tests/test_event_cpu.py` holds the ratios below limits.
"""

import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec
from sqlalchemy import Engine

from bench.workloads.events import bodies
from whence.derive.writing.merge import CHUNK_RECORDS, merge_records
from whence.log import Kind, Position, Record
from whence.openlineage.accept import accept
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.ingest.recompute import recompute
from whence.store.migrations.migrate import migrate

T = TypeVar("T")

DECODE, ACCEPT, MERGE, SETTLE = "decode", "accept", "merge", "settle"
WARM_CHUNKS, CHUNKS = 2, 5

Costs = dict[str, list[float]]
"""Station → seconds of CPU an event, one number per chunk."""


def measure(chunks: int = CHUNKS) -> Costs:
    """Take chunks of events through every station, with a decode loop beside each chunk."""
    source = bodies(seed=1, jobs=200, days=400)
    costs: Costs = {DECODE: [], ACCEPT: [], MERGE: [], SETTLE: []}
    with _store() as engine:
        for number in range(WARM_CHUNKS + chunks):
            some = list(islice(source, CHUNK_RECORDS))
            measured = _measure_chunk(engine, some, number * CHUNK_RECORDS)
            if number >= WARM_CHUNKS:
                for station, seconds in measured.items():
                    costs[station].append(seconds / len(some))
    return costs


def least_ratios(costs: Costs) -> dict[str, float]:
    """Each station's cost relative to the decode loop's, in its best chunk: other processes only add to a cost."""
    return {
        station: min(one / decode for one, decode in zip(seconds, costs[DECODE], strict=True))
        for station, seconds in costs.items()
    }


def _measure_chunk(engine: Engine, some: Sequence[bytes], first: int) -> dict[str, float]:
    decode = msgspec.json.Decoder().decode
    # Nothing decoded is kept: a collector keeps nothing, and the cycle collector would search what is kept.
    decoding, _ = _spend(lambda: deque(map(decode, some), maxlen=0))
    accepting, records = _spend(lambda: [_accept(body, first + place) for place, body in enumerate(some, 1)])
    merging, _ = _spend(lambda: merge_records(engine, records))
    settling, _ = _spend(lambda: recompute(engine, {"log": first + len(records)}))
    return {DECODE: decoding, ACCEPT: accepting, MERGE: merging, SETTLE: settling}


def _accept(body: bytes, place: int) -> Record:
    accepted = accept(body)
    key, payload = accepted.key, accepted.payload
    return Record(position=Position(0, place), kind=Kind.EVENT, key=key, received_at=0, payload=payload)


def _spend(work: Callable[[], T]) -> tuple[float, T]:
    before = time.process_time()
    result = work()
    return time.process_time() - before, result


@contextmanager
def _store() -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as directory:
        engine = open_store(sqlite_url(Path(directory) / "store.db"))
        migrate(engine)
        yield engine
        engine.dispose()


def main() -> None:
    """Measure and print."""
    costs = measure()
    relative = least_ratios(costs)
    for station, seconds in costs.items():
        each = statistics.median(seconds) * 1e6
        sys.stdout.write(
            f"{station:8} {each:6.0f} µs of CPU an event, {relative[station]:5.1f} times a decode at least\n"
        )


if __name__ == "__main__":
    main()
