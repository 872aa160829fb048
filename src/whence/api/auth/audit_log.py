"""Writer of the audit log: collects entries beside the answers, and commits them together a few times a second."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from sqlalchemy import Connection, Engine

from whence.errors import StoreError
from whence.store.security.audit import Entry, append_entries
from whence.store.security.database import write_security

_log = logging.getLogger(__name__)
_PAUSE_SECONDS = 0.2
_MOST_WAITING = 10_000
"""The most entries that wait for the database; beyond it, requests are rejected."""

_Key = tuple[str, str, str, tuple[str, ...], int]


def login_entry(who: str, what: str, status: int) -> Entry:
    """Create the entry of a sign-in, successful or not."""
    return Entry(at=time.time_ns() // 1000, who=who, action="login", what=what, count=1, status=status)


class AuditWriter:
    """Writes the audit log of one process, for one event loop. Repeated entries become one entry a commit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = ThreadPoolExecutor(1, "audit")
        self._waiting: list[Entry] = []
        self._tallied: dict[_Key, tuple[Entry, int]] = {}
        self._work: list[Callable[[Connection], None]] = []
        self._task: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[bool] | None = None
        self._failure: StoreError | None = None
        """The error of the last attempt to write, or None."""

    def check(self, *, writes: bool = False) -> None:
        """Raises StoreError if too many entries wait: a request that cannot be logged is not answered. Writes are
        counted.
        """
        if len(self._tallied if writes else self._waiting) >= _MOST_WAITING:
            raise StoreError("the audit log is full because its database does not answer; check the security database")

    def check_written(self) -> None:
        """Raises StoreError if the database did not accept the last entries."""
        if self._failure:
            raise self._failure

    async def ahead(self, entry: Entry) -> None:
        """Write an entry before its action. Raises StoreError; then the action must not happen."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._commit, [entry], ())
        except StoreError as error:
            raise StoreError(
                f"the request was not executed because the audit log cannot be written: {error}"
            ) from error

    def note(self, entry: Entry) -> None:
        """Queue an entry."""
        self._waiting.append(entry)
        self._begin()

    def tally(self, entry: Entry) -> None:
        """Queue the count of an entry: entries that differ only in time become one."""
        self._count(entry, entry.count)
        self._begin()

    def along(self, work: Callable[[Connection], None]) -> None:
        """Queue a small write to be committed with the next entries."""
        self._work.append(work)
        self._begin()

    async def close(self) -> None:
        """Write all queued entries."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._writing:
            await self._writing
        if not await self._write_all():
            lost = len(self._waiting) + len(self._tallied)
            _log.error("the audit log has lost %d entries: the process ends while they cannot be written", lost)
        self._thread.shutdown(wait=True)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        while self._waiting or self._tallied or self._work:
            await asyncio.sleep(_PAUSE_SECONDS)
            self._writing = asyncio.get_running_loop().create_task(self._write_all())
            await asyncio.shield(self._writing)

    async def _write_all(self) -> bool:
        """Write all queued entries. Those that the database rejects are queued again, except the work of `along`."""
        waiting, tallied, work = self._waiting, self._tallied, self._work
        self._waiting, self._tallied, self._work = [], {}, []
        entries = [*waiting, *(replace(entry, count=count) for entry, count in tallied.values())]
        if await asyncio.get_running_loop().run_in_executor(self._thread, self._write, entries, work):
            return True
        self._waiting[:0] = waiting
        came, self._tallied = self._tallied, tallied
        for entry, count in came.values():
            self._count(entry, count)
        return False

    def _count(self, entry: Entry, more: int) -> None:
        key = (entry.who, entry.action, entry.what, entry.nodes, entry.status)
        first, count = self._tallied.get(key, (entry, 0))
        self._tallied[key] = first, count + more

    def _write(self, entries: Sequence[Entry], work: Sequence[Callable[[Connection], None]]) -> bool:
        try:
            self._commit(entries, work)
        except StoreError:
            return False
        return True

    def _commit(self, entries: Sequence[Entry], work: Sequence[Callable[[Connection], None]]) -> None:
        """Commit entries. Raises StoreError. Logs when failures begin and end."""
        try:
            with write_security(self._engine) as connection:
                for one in work:
                    one(connection)
                append_entries(connection, entries)
        except StoreError as error:
            if self._failure is None:
                _log.error("the audit log cannot be written, so its entries wait: %s", error)
            self._failure = error
            raise
        if self._failure:
            _log.warning("the audit log can be written again")
        self._failure = None
