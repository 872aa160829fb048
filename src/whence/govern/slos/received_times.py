"""When records of the log were received: for the indicator of capture latency."""

from collections.abc import Sequence

from whence.errors import LogError
from whence.log import Log, Position

_AT_ONCE = 500
"""Records that are in memory at one time."""
_MOST_KNOWN = 200_000


class ReceivedTimes:
    """Reads the times, and remembers them: a record never changes. Threads may share it."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[int, int] = {}

    def __call__(self, positions: Sequence[int]) -> Sequence[int | None]:
        """When the records at positions were received (µs); None for those that the log does not have, or cannot
        read.
        """
        known = self._known
        wanted = sorted({one for one in positions if one not in known})
        found = dict[int, int]()
        for first in range(0, len(wanted), _AT_ONCE):
            found |= self._read(wanted[first : first + _AT_ONCE])
        times = [known.get(one, found.get(one)) for one in positions]
        self._known = {**(known if len(known) < _MOST_KNOWN else {}), **found}
        return times

    def _read(self, positions: Sequence[int]) -> dict[int, int]:
        try:
            records = self._log.read_records([Position.from_int(one) for one in positions])
        except LogError:
            return {}
        return {at: one.received_at for at, one in zip(positions, records, strict=True) if one is not None}
