"""The tail of a log in segments: while few records wait, the driver merges them itself, because a micro-batch of Spark
costs more than reading and merging them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from whence.derive.sources.log import merge_ranges
from whence.log import Position
from whence.log.segments.read import committed_end

LOOK_SECONDS = 0.02
"""Between two looks at the log's end: 30 µs each."""

ROUND_SECONDS = 0.15
"""From the start of one round to the next, at least: what arrives meanwhile is merged and settled together."""

TAIL_BYTES = 32 * 2**20
"""The driver merges what is less than this. Two idle cores would be faster with Spark from 4 MiB on; while events
arrive, the collector has one of them, and what a micro-batch costs beside it is taken from both.
"""


@dataclass(frozen=True, slots=True)
class Tail:
    """The tail of a log."""

    directory: Path
    stopping: Event

    def follow(self, position: Position, derive: Callable[[Position, Position], None]) -> Position:
        """Derive ranges of records as they arrive, from a position on. Returns the position reached once more waits
        than the driver should merge, or `stopping` is set.
        """
        pause = 0.0
        while not self.stopping.wait(pause):
            pause, end = LOOK_SECONDS, committed_end(self.directory)
            if end <= position:
                continue
            if self._is_long(position, end):
                break
            began = time.monotonic()
            derive(position, end)
            position, pause = end, max(LOOK_SECONDS, began + ROUND_SECONDS - time.monotonic())
        return position

    def _is_long(self, position: Position, end: Position) -> bool:
        first = next(merge_ranges(self.directory, position, end, TAIL_BYTES), None)
        return first is not None and first[1] < end
