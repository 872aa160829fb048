"""Group commit: many waiters, few syncs; bounds, failures and recovery as its callers see them."""

import asyncio
import resource
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from whence.errors import LogBusyError, LogError
from whence.log import Kind
from whence.log.group_commit import CommitSettings, GroupCommit
from whence.log.record import Appended, Draft
from whence.log.segments import committed_end, read_records, start_position
from whence.log.segments.write import SegmentWriter


def event(number: int, size: int = 1000) -> Draft:
    return Draft(kind=Kind.EVENT, key=number.to_bytes(16, "big"), received_at=number, payload=bytes(size))


def served(directory: Path) -> list[int]:
    return [
        record.received_at for record in read_records(directory, start_position(directory), committed_end(directory))
    ]


class GatedWriter(SegmentWriter):
    """A writer that waits for a gate before each batch, as for a slow disk, and remembers the batches' sizes."""

    def __init__(self, directory: Path) -> None:
        self.gate = threading.Event()
        self.batches: list[int] = []
        super().__init__(directory)

    def append(self, drafts: Sequence[Draft]) -> list[Appended]:
        assert self.gate.wait(30)
        self.batches.append(len(drafts))
        return super().append(drafts)


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """The system refuses to write beyond `size` in any file: as good as a full disk."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def test_many_waiters_share_few_syncs_and_each_learns_its_own_position(tmp_path: Path) -> None:
    writer = GatedWriter(tmp_path)

    async def scenario() -> list[tuple[Appended, ...]]:
        commit = GroupCommit(lambda: writer)
        waiting = [asyncio.create_task(commit.append((event(number),))) for number in range(500)]
        writer.gate.set()
        results = await asyncio.gather(*waiting)
        await commit.close()
        return results

    results = asyncio.run(scenario())
    records = {
        record.position: record.received_at
        for record in read_records(tmp_path, start_position(tmp_path), committed_end(tmp_path))
    }
    assert [records[appended.position] for (appended,) in results] == list(range(500))
    assert len(writer.batches) <= 2


def test_a_batch_is_bounded_in_bytes(tmp_path: Path) -> None:
    writer = GatedWriter(tmp_path)

    async def scenario() -> None:
        commit = GroupCommit(lambda: writer, CommitSettings(batch_bytes=2500))
        waiting = [asyncio.create_task(commit.append((event(number),))) for number in range(6)]
        large = asyncio.create_task(commit.append((event(6, 9000),)))
        writer.gate.set()
        await asyncio.gather(*waiting, large)
        await commit.close()

    asyncio.run(scenario())
    assert writer.batches == [2, 2, 2, 1]


@pytest.mark.parametrize("bounds", [CommitSettings(queue_records=10), CommitSettings(queue_bytes=10_000)])
def test_a_full_queue_refuses_at_once_and_takes_more_once_drained(tmp_path: Path, bounds: CommitSettings) -> None:
    writer = GatedWriter(tmp_path)

    async def scenario() -> tuple[int, int]:
        commit = GroupCommit(lambda: writer, bounds)
        waiting = [asyncio.create_task(commit.append((event(number),))) for number in range(30)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        refused = [task for task in waiting if task.done()]
        assert all(isinstance(task.exception(), LogBusyError) for task in refused)
        assert commit.last_error != "the write queue of the event log is full", "busy is not broken"
        writer.gate.set()
        await asyncio.wait(waiting)
        await commit.append((event(99),))
        await commit.close()
        return len(refused), sum(task.exception() is None for task in waiting)

    refused, accepted = asyncio.run(scenario())
    assert (refused, accepted) == (20, 10)
    assert served(tmp_path) == [*range(10), 99]


def test_an_append_larger_than_the_queue_passes_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        commit = GroupCommit(lambda: SegmentWriter(tmp_path), CommitSettings(queue_records=3, queue_bytes=100))
        await commit.append([event(number) for number in range(5)])
        await commit.close()

    asyncio.run(scenario())
    assert served(tmp_path) == [0, 1, 2, 3, 4]


def test_a_refusing_disk_acknowledges_nothing_says_why_and_heals(tmp_path: Path) -> None:
    async def scenario() -> None:
        commit = GroupCommit(lambda: SegmentWriter(tmp_path))
        assert await commit.probe() == ""
        await commit.append((event(0),))
        with file_size_limit(5000):
            with pytest.raises(LogError, match="File too large"):
                await commit.append((event(1), event(2, 9000)))
            assert "File too large" in commit.last_error
            assert "File too large" in await commit.probe(), "still so"
        assert await commit.probe() == "", "a probe suffices, nobody needs to send an event"
        results = await commit.append((event(2, 9000), event(3)))
        assert [appended.original for appended in results] == [None, None]
        await commit.close()

    asyncio.run(scenario())
    assert served(tmp_path) in ([0, 2, 3], [0, 1, 2, 3])


def test_another_writer_is_trouble_until_it_goes(tmp_path: Path) -> None:
    other = SegmentWriter(tmp_path)

    async def scenario() -> None:
        commit = GroupCommit(lambda: SegmentWriter(tmp_path))
        with pytest.raises(LogBusyError, match="another process"):
            await commit.append((event(0),))
        assert "another process" in commit.last_error
        other.close()
        await commit.append((event(1),))
        assert commit.last_error == ""
        await commit.close()

    asyncio.run(scenario())
    assert served(tmp_path) == [1]


def test_a_cancelled_waiter_does_not_disturb_the_others(tmp_path: Path) -> None:
    writer = GatedWriter(tmp_path)

    async def scenario() -> None:
        commit = GroupCommit(lambda: writer)
        waiting = [asyncio.create_task(commit.append((event(number),))) for number in range(3)]
        await asyncio.wait(waiting, timeout=0)
        waiting[1].cancel()
        writer.gate.set()
        first, _, third = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(first, tuple)
        assert isinstance(third, tuple)
        await commit.close()

    asyncio.run(scenario())
    assert served(tmp_path) == [0, 1, 2]


def test_closing_waits_for_what_is_queued_and_frees_the_lock(tmp_path: Path) -> None:
    async def scenario() -> None:
        commit = GroupCommit(lambda: SegmentWriter(tmp_path))
        waiting = asyncio.create_task(commit.append((event(0),)))
        await asyncio.wait([waiting], timeout=0)
        await commit.close()
        assert waiting.done()

    asyncio.run(scenario())
    SegmentWriter(tmp_path).close()
    assert served(tmp_path) == [0]
