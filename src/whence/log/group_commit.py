"""Group commit: one write and one sync serve many requests, in a dedicated thread."""

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
    """Limits of the queue. A single append larger than a limit is accepted if the queue is empty."""

    queue_bytes: int = 128 << 20
    queue_records: int = 20_000
    batch_bytes: int = 8 << 20


@dataclass(frozen=True, slots=True)
class _QueuedAppend:
    drafts: Sequence[Draft]
    size: int
    done: asyncio.Future[tuple[Appended, ...]] = field(repr=False)


class GroupCommit:
    """Appends to the log for many coroutines of one event loop. Call `close` in the same loop."""

    def __init__(self, open_writer: Callable[[], Writer], settings: CommitSettings = CommitSettings()) -> None:
        self._open_writer = open_writer
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, "log")
        self._writer: Writer | None = None
        self._queue: list[_QueuedAppend] = []
        self._bytes = self._records = 0
        self._flushing: asyncio.Task[None] | None = None
        self._last_error = "the log is not open yet"

    @property
    def last_error(self) -> str:
        """Why the last attempt to write the log failed; empty if it succeeded."""
        return self._last_error

    @property
    def queued(self) -> tuple[int, int]:
        """The number of queued records and bytes."""
        return self._records, self._bytes

    async def append(self, drafts: Sequence[Draft]) -> tuple[Appended, ...]:
        """Append all drafts, and return once they are durable.

        Raises LogBusyError if the queue is full or another process writes the log, LogError if the disk rejects the
        write. In both cases none of the drafts is acknowledged.
        """
        size = sum(len(draft.payload) for draft in drafts)
        if self._is_full(size, len(drafts)):
            raise LogBusyError("the write queue of the event log is full")
        done = asyncio.get_running_loop().create_future()
        self._queue.append(_QueuedAppend(drafts, size, done))
        self._bytes += size
        self._records += len(drafts)
        self._start_flushing()
        appended: tuple[Appended, ...] = await done
        return appended

    async def probe(self) -> str:
        """Retry a failed log: check whether it can be written again. Returns `last_error`."""
        if self._last_error:
            with suppress(LogError):
                await self.append(())
        return self._last_error

    async def close(self) -> None:
        """Write all queued drafts, then release the log."""
        while self._flushing:
            await asyncio.shield(self._flushing)
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close_writer)
        self._thread.shutdown()

    def _is_full(self, size: int, count: int) -> bool:
        bounds = self._settings
        return bool(self._queue) and (
            self._bytes + size > bounds.queue_bytes or self._records + count > bounds.queue_records
        )

    def _start_flushing(self) -> None:
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        batch: list[_QueuedAppend] = []
        try:
            while batch := self._take_batch():
                drafts = [draft for waiting in batch for draft in waiting.drafts]
                try:
                    appended = await loop.run_in_executor(self._thread, self._write, drafts)
                except LogError as error:
                    self._refuse(batch, error)
                else:
                    self._acknowledge(batch, appended)
        finally:
            # The batch is non-empty here only if the writer raised an unexpected error: no caller may wait forever.
            self._refuse(batch, LogError("the writer of the event log failed"))
            self._flushing = None

    def _take_batch(self) -> list[_QueuedAppend]:
        size = count = 0
        for waiting in self._queue:
            if count and size + waiting.size > self._settings.batch_bytes:
                break
            size += waiting.size
            count += 1
        batch, self._queue = self._queue[:count], self._queue[count:]
        return batch

    def _write(self, drafts: Sequence[Draft]) -> Sequence[Appended]:
        if self._writer is None:
            self._writer = self._open_writer()
        try:
            return self._writer.append(drafts) if drafts else self._writer.check_writable()
        except LogError:
            self._close_writer()
            raise

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _acknowledge(self, batch: list[_QueuedAppend], appended: Sequence[Appended]) -> None:
        if self._last_error:
            logger.info("the event log can be written")
        self._last_error = ""
        start = 0
        for waiting in batch:
            self._dequeue(waiting)
            if not waiting.done.done():
                waiting.done.set_result(tuple(appended[start : start + len(waiting.drafts)]))
            start += len(waiting.drafts)

    def _refuse(self, batch: list[_QueuedAppend], error: LogError) -> None:
        for waiting in batch:
            self._dequeue(waiting)
            if not waiting.done.done():
                waiting.done.set_exception(error)
        if batch and self._last_error != str(error):
            logger.error("the event log cannot be written: %s", error)
            self._last_error = str(error)

    def _dequeue(self, waiting: _QueuedAppend) -> None:
        self._bytes -= waiting.size
        self._records -= len(waiting.drafts)
