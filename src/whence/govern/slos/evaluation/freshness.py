"""Freshness by exact interval arithmetic: data is too old from [write + limit) to the next write, in open hours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence.govern.slos.evaluation.facts import Write
from whence.govern.slos.evaluation.open_time import FOREVER, OpenTime, Times
from whence.govern.slos.objectives import Age, Freshness


@dataclass(frozen=True, slots=True, kw_only=True)
class Staleness:
    """When the data was too old. `starts`, `ends`: in open time (`OpenTime.passed`), ascending and apart.

    `episodes`: the same as instants (µs), from the first open one to the write that ended it, FOREVER if none did.
    """

    starts: Times
    ends: Times
    episodes: tuple[tuple[int, int], ...]


def find_staleness(indicator: Freshness, writes: Sequence[Write], hours: OpenTime, until: int) -> Staleness:
    """When data was older than the limit, until a time (µs). `writes`: those that brought newer data, in order."""
    times = np.fromiter((one.time for one in writes), dtype=np.int64, count=len(writes))
    ends = np.concatenate((times[1:], [FOREVER])) if len(times) else times
    passed_ends = hours.passed(np.minimum(ends, until))
    starts = hours.passed(times) + indicator.limit
    if indicator.age is Age.WALL:
        starts = hours.passed(np.minimum(times + indicator.limit, until))
    since = hours.resumed(starts)
    bad = (since < ends) & (since < until)
    return Staleness(
        starts=starts[bad & (starts < passed_ends)],
        ends=passed_ends[bad & (starts < passed_ends)],
        episodes=tuple(zip(since[bad].tolist(), ends[bad].tolist(), strict=True)),
    )
