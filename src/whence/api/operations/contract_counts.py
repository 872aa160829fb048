"""How many contracts are violated now. Time alone can violate one, so they are counted again without a new event."""

import asyncio
import time
from collections.abc import Callable

from sqlalchemy import Engine

from whence.errors import StoreError
from whence.govern.contracts.evaluation.answers import ContractCounts, count_contracts
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

_SHARE = 0.02
"""The largest share of time that is spent on counting."""
_PROMPT_SECONDS = 0.5
"""If counting takes longer, the previous counts are served meanwhile."""


def read_contract_counts(engine: Engine) -> ContractCounts:
    """Evaluate all contracts. Raises StoreError."""
    with snapshot(engine) as connection:
        return count_contracts(StoreCatalog(connection), StoreGraph(connection), time.time_ns() // 1_000)


class ContractWatch:
    """Counts contracts, in at most `_SHARE` of the time. For one event loop."""

    def __init__(self, count: Callable[[], ContractCounts]) -> None:
        self._count = count
        self._known: ContractCounts | None = None
        self._counted_at = self._took = 0.0
        self._counting: asyncio.Task[None] | None = None

    async def read(self) -> ContractCounts | None:
        """The current counts; those of many contracts may be some minutes old. None if the store cannot be read."""
        is_due = time.monotonic() - self._counted_at >= self._took / _SHARE
        if (self._known is None or is_due) and self._counting is None:
            self._counting = asyncio.get_running_loop().create_task(self._read())
        if self._counting and (self._known is None or self._took < _PROMPT_SECONDS):
            await self._counting
        return self._known

    async def _read(self) -> None:
        began = time.monotonic()
        try:
            self._known = await asyncio.to_thread(self._count)
        except StoreError:
            self._known = None
        finally:
            self._counted_at = time.monotonic()
            self._took = self._counted_at - began
            self._counting = None
