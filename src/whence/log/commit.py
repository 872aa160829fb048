"""Group commit: many requests, one write and one sync, in a thread of its own."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from whence.errors import LogBusyError, LogError
from whence.log.port import Writer
from whence.log.record import Appended, Draft

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSettings:
    """Bounds of what waits for the disk. A single append larger than a bound passes alone."""

    queue_bytes: int = 128 << 20
    queue_records: int = 20_000
    batch_bytes: int = 8 << 20


@dataclass(frozen=True, slots=True)
class _Waiting:
    drafts: Sequence[Draft]
    size: int
    done: asyncio.Future[tuple[Appended, ...]] = field(repr=False)


class GroupCommit:
    """Appends to the log on behalf of many coroutines of one event loop. `close` it in the same loop."""

    def __init__(self, open_writer: Callable[[], Writer], settings: CommitSettings = CommitSettings()) -> None:
        self._open_writer = open_writer
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, "log")
        self._writer: Writer | None = None
        self._queue: list[_Waiting] = []
        self._bytes = self._records = 0
        self._flushing: asyncio.Task[None] | None = None
        self._trouble = "the log is not open yet"

    @property
    def trouble(self) -> str:
        """Why the log cannot be written, as of the last try; empty if it can."""
        return self._trouble

    @property
    def waiting(self) -> tuple[int, int]:
        """Records and bytes that wait for the disk."""
        return self._records, self._bytes

    async def append(self, drafts: Sequence[Draft]) -> tuple[Appended, ...]:
        """Append all drafts, and return once they are durable.

        Raises LogBusyError if too much waits already or another process writes the log, LogError if the disk refuses;
        then none of them is acknowledged.
        """
        size = sum(len(draft.payload) for draft in drafts)
        if self._is_full(size, len(drafts)):
            raise LogBusyError("the queue of the event log is full")
        done = asyncio.get_running_loop().create_future()
        self._queue.append(_Waiting(drafts, size, done))
        self._bytes += size
        self._records += len(drafts)
        self._start()
        appended: tuple[Appended, ...] = await done
        return appended

    async def probe(self) -> str:
        """If the log is in trouble, try whether it can be written again. Returns `trouble`."""
        if self._trouble:
            with suppress(LogError):
                await self.append(())
        return self._trouble

    async def close(self) -> None:
        """Wait for what is queued, then release the log."""
        while self._flushing:
            await asyncio.shield(self._flushing)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop_writer)
        self._thread.shutdown()

    def _is_full(self, size: int, count: int) -> bool:
        bounds = self._settings
        return bool(self._queue) and (
            self._bytes + size > bounds.queue_bytes or self._records + count > bounds.queue_records
        )

    def _start(self) -> None:
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        batch: list[_Waiting] = []
        try:
            while batch := self._take():
                drafts = [draft for waiting in batch for draft in waiting.drafts]
                try:
                    appended = await loop.run_in_executor(self._thread, self._write, drafts)
                except LogError as error:
                    self._refuse(batch, error)
                else:
                    self._acknowledge(batch, appended)
        finally:
            # Reached with a batch in hand only if the writer broke in a way that it should not: nobody may hang.
            self._refuse(batch, LogError("the writer of the event log failed"))
            self._flushing = None

    def _take(self) -> list[_Waiting]:
        size = taken = 0
        for waiting in self._queue:
            if taken and size + waiting.size > self._settings.batch_bytes:
                break
            size += waiting.size
            taken += 1
        batch, self._queue = self._queue[:taken], self._queue[taken:]
        return batch

    def _write(self, drafts: Sequence[Draft]) -> Sequence[Appended]:
        if self._writer is None:
            self._writer = self._open_writer()
        try:
            return self._writer.append(drafts) if drafts else self._writer.rehearse()
        except LogError:
            self._drop_writer()
            raise

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _acknowledge(self, batch: list[_Waiting], appended: Sequence[Appended]) -> None:
        if self._trouble:
            logger.info("the event log can be written")
        self._trouble = ""
        at = 0
        for waiting in batch:
            self._settle(waiting)
            if not waiting.done.done():
                waiting.done.set_result(tuple(appended[at : at + len(waiting.drafts)]))
            at += len(waiting.drafts)

    def _refuse(self, batch: list[_Waiting], error: LogError) -> None:
        for waiting in batch:
            self._settle(waiting)
            if not waiting.done.done():
                waiting.done.set_exception(error)
        if batch and self._trouble != str(error):
            logger.error("the event log cannot be written: %s", error)
            self._trouble = str(error)

    def _settle(self, waiting: _Waiting) -> None:
        self._bytes -= waiting.size
        self._records -= len(waiting.drafts)
