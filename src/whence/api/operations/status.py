"""The status of an installation: received, waiting and missing records. `/metrics`, `/api/v2/status` and doctor show
it.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from whence.api.operations.contract_counts import ContractWatch
from whence.api.operations.progress import ProgressWatch
from whence.errors import StoreError
from whence.govern.contracts.evaluation.answers import ContractCounts
from whence.log import Amount, Lanes, Log, Position, Seal
from whence.store.status.overview import StoreOverview

_SHARE = 0.02
"""The largest share of time that is spent on counting in the store."""

_PROMPT_SECONDS = 0.5
"""If counting takes longer, the previous counts are served meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`received`: all records that the log ever had. `waiting`: those that the store does not have yet, and the age
    (s).

    `standing` are the counts of the store at `counted_at` (s since 1970), or None if it cannot be read. `missing`:
    records that the store had passed by then without accounting for them; it must be 0.
    """

    received: Amount
    waiting: Amount
    waiting_seconds: float
    standing: StoreOverview | None
    counted_at: float
    missing: int | None
    contracts: ContractCounts | None = None
    """None: the store cannot be read."""
    damaged: tuple[Seal, ...] = ()
    """Ranges of the log that are sealed, or whose loss was accepted."""


class StatusWatch:
    """Reads the status of log and store. For one event loop."""

    def __init__(
        self,
        log: Log,
        progress: ProgressWatch,
        read_overview: Callable[[], StoreOverview],
        count_lost: Callable[[], int] | None = None,
        contracts: ContractWatch | None = None,
    ) -> None:
        self._contracts = contracts
        self._log = log
        self._progress = progress
        self._read_standing = read_overview
        self._count_lost = count_lost
        self._standing: StoreOverview | None = None
        self._counted_at = self._took = 0.0
        self._counting: asyncio.Task[None] | None = None

    async def read(self) -> Status:
        """The current status; counts of a large store may be some minutes old. Raises LogError."""
        reached: Lanes = {}
        standing: StoreOverview | None = None
        try:
            reached = await self._progress.reached()
            standing = await self._counted(reached)
        except StoreError:
            pass
        contracts = await self._contracts.read() if self._contracts else None
        status = await asyncio.to_thread(self._status, reached, standing)
        return replace(status, contracts=contracts)

    def _status(self, reached: Lanes, standing: StoreOverview | None) -> Status:
        received = self._log.count_before({lane.name: lane.end for lane in self._log.list_lanes()})
        passed = self._log.count_before(reached)
        oldest = self._log.oldest_received_at(reached)
        damaged = tuple(one for one in self._log.list_seals() if one.state != "restored")
        seconds = max(0.0, time.time() - oldest / 1e6) if oldest is not None else 0.0
        return Status(
            received=received,
            waiting=_less(received, passed) if oldest is not None else Amount(0, 0),
            waiting_seconds=seconds,
            standing=standing,
            counted_at=self._counted_at,
            missing=self._missing(standing, damaged) if standing else None,
            damaged=damaged,
        )

    def _missing(self, standing: StoreOverview, damaged: Iterable[Seal]) -> int:
        passed = self._log.count_before(positions(standing.progress))
        # A running micro-batch is in the ledger before its records are passed.
        lost = sum(one.lost for one in damaged if one.state == "lost")
        missing = max(0, passed.records - lost - standing.ledger.received)
        # Not every offset of a topic is a record, so missing ones are verified.
        return self._count_lost() if missing and self._count_lost else missing

    async def _counted(self, reached: Lanes) -> StoreOverview | None:
        known = self._standing
        is_current = known is not None and positions(known.progress) == reached
        is_due = time.time() - self._counted_at >= self._took / _SHARE
        if not is_current and is_due and self._counting is None:
            self._counting = asyncio.get_running_loop().create_task(self._count())
        if self._counting and (known is None or self._took < _PROMPT_SECONDS):
            await self._counting
        return self._standing

    async def _count(self) -> None:
        began = time.monotonic()
        try:
            self._standing = await asyncio.to_thread(self._read_standing)
            self._counted_at = time.time()
        finally:
            self._took = time.monotonic() - began
            self._counting = None


def positions(progress: Mapping[str, int]) -> Lanes:
    """The store's progress, as positions."""
    return {lane: Position.from_int(position) for lane, position in progress.items()}


def _less(all_: Amount, passed: Amount) -> Amount:
    size = None if all_.bytes is None or passed.bytes is None else max(0, all_.bytes - passed.bytes)
    return Amount(max(0, all_.records - passed.records), size)
