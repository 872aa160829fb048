"""A log full of a realistic workload: 1,000 daily jobs, with what makes a real stream hard, accepted as the collector
does it.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from bench.workloads.events import Noise, arrivals
from whence.errors import EventError
from whence.log import Kind
from whence.log.quarantine import make_quarantine_draft
from whence.log.record import Draft
from whence.log.segments.write import SegmentWriter
from whence.openlineage.accept import accept

JOBS = 1_000
NOISE = Noise(duplicates=0.05, late=0.05, malformed=0.01)
FIRST = 1_767_225_600_000_000
"""When the first body was received; each later one comes a second after the one before."""

_BATCH, _WINDOW = 500, 20
"""Bodies per task, and tasks at a time: a pool takes all that it is given into memory."""

_Numbered = tuple[int, list[bytes]]


def bodies(events: int, seed: int = 1, jobs: int = JOBS) -> Iterator[bytes]:
    """So many bodies, in the order in which they arrive."""
    return (one.body for one in islice(arrivals(seed=seed, jobs=jobs, days=10**6, noise=NOISE), events))


def fill(directory: Path, events: int, seed: int = 1, jobs: int = JOBS) -> None:
    """Append so many bodies to a log in segments."""
    writer = SegmentWriter(directory)
    for some in drafts(events, seed, jobs):
        writer.append(some)
    writer.close()


def drafts(events: int, seed: int = 1, jobs: int = JOBS) -> Iterator[list[Draft]]:
    """So many bodies as a collector appends them, some at a time; refused ones as quarantined."""
    tasks = _tasks(bodies(events, seed, jobs))
    with ProcessPoolExecutor(2) as pool:
        while window := list(islice(tasks, _WINDOW)):
            yield from pool.map(_accepted, window)


def _tasks(some: Iterator[bytes]) -> Iterator[_Numbered]:
    first = 0
    while batch := list(islice(some, _BATCH)):
        yield first, batch
        first += len(batch)


def _accepted(numbered: _Numbered) -> list[Draft]:
    first, batch = numbered
    return [_draft(body, FIRST + (first + place) * 1_000_000) for place, body in enumerate(batch)]


def _draft(body: bytes, received_at: int) -> Draft:
    try:
        taken = accept(body)
    except EventError as error:
        return make_quarantine_draft(body, error, received_at)
    return Draft(kind=Kind.EVENT, key=bytes.fromhex(taken.key), received_at=received_at, payload=taken.payload)
