"""Events as the collector leaves them in a log: with duplicates, late events and refused bodies, over some days."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from bench.events import Noise, arrivals
from filling import draft
from whence.log import Log
from whence.log.record import Draft
from whence.log.segments.log import SegmentLog
from whence.log.segments.write import SegmentSettings

NOISE = Noise(duplicates=0.1, late=0.1, malformed=0.05)
FIRST = 1_790_000_000_000_000
HOUR = 3_600_000_000
SEGMENT = 1 << 20


def hourly(count: int, *, every: int = HOUR, seed: int = 3) -> list[Draft]:
    """The first arrivals of a noisy workload, received one by one, `every` so many microseconds."""
    bodies = islice(arrivals(seed=seed, jobs=20, days=30, noise=NOISE), count)
    return [replace(draft(one.body), received_at=FIRST + place * every) for place, one in enumerate(bodies)]


def segments(directory: Path, segment_bytes: int = SEGMENT) -> SegmentLog:
    """A log in segments that knows few keys."""
    return SegmentLog(directory, SegmentSettings(segment_bytes=segment_bytes, recent_keys=50))


def append(log: Log, drafts: Sequence[Draft]) -> None:
    """Append to a log, some at a time."""
    writer = log.open_writer()
    for begin in range(0, len(drafts), 40):
        writer.append(drafts[begin : begin + 40])
    writer.close()
