"""The log after a crash: exactly the whole records are served, from any prefix and after any damage to the tail."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from whence.errors import LogBusyError, LogError
from whence.log import Kind, Position
from whence.log.record import Draft
from whence.log.segments import committed_end, read_records, start_position
from whence.log.segments.damaged_ranges import read_seals
from whence.log.segments.files import open_head
from whence.log.segments.write import SegmentSettings, SegmentWriter

FIRST = "00000000000000000001.log"
USUAL = SegmentSettings()


def event(number: int, size: int = 10) -> Draft:
    return Draft(kind=Kind.EVENT, key=number.to_bytes(16, "big"), received_at=number, payload=b"p" * size)


def served(directory: Path) -> list[int]:
    return [
        record.received_at for record in read_records(directory, start_position(directory), committed_end(directory))
    ]


def mark(directory: Path, position: Position) -> None:
    """Set the committed mark back, as a power loss can, which keeps the data but not the last mark."""
    os.close(open_head(directory, position))


def filled(directory: Path, sizes: Sequence[int], log: SegmentSettings = USUAL) -> list[Position]:
    """Write one record of each size; the ends after each, the start first."""
    writer = SegmentWriter(directory, log)
    ends = [writer.end]
    for number, size in enumerate(sizes):
        writer.append([event(number, size)])
        ends.append(writer.end)
    writer.close()
    return ends


@settings(max_examples=examples(60))
@given(st.data(), st.lists(st.integers(0, 60), min_size=1, max_size=6))
def test_cut_anywhere_after_the_mark(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, sizes: list[int]
) -> None:
    directory = tmp_path_factory.mktemp("log")
    ends = filled(directory, sizes)
    committed_records = data.draw(st.integers(0, len(sizes)))
    cut = data.draw(st.integers(ends[committed_records].offset, ends[-1].offset))
    mark(directory, ends[committed_records])
    os.truncate(directory / FIRST, cut)
    whole = sum(end.offset <= cut for end in ends[1:])

    writer = SegmentWriter(directory)
    assert served(directory) == list(range(whole))
    writer.append([event(99)])
    writer.close()
    assert served(directory) == [*range(whole), 99]


def test_every_prefix_recovers(tmp_path: Path) -> None:
    ends = filled(tmp_path / "whole", [0, 7, 30])
    for cut in range(ends[-1].offset + 1):
        directory = tmp_path / str(cut)
        shutil.copytree(tmp_path / "whole", directory)
        (directory / "HEAD").unlink()
        os.truncate(directory / FIRST, cut)
        SegmentWriter(directory).close()
        assert served(directory) == list(range(sum(end.offset <= cut for end in ends[1:]))), cut


@settings(max_examples=examples(60))
@given(st.data())
def test_a_flipped_byte_is_cut_after_the_mark_and_sealed_before_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    directory = tmp_path_factory.mktemp("log")
    ends = filled(directory, [5, 0, 40, 8])
    committed_records = data.draw(st.integers(0, 4))
    flipped = data.draw(st.integers(16, ends[-1].offset - 1))
    mark(directory, ends[committed_records])
    contents = bytearray((directory / FIRST).read_bytes())
    contents[flipped] ^= data.draw(st.integers(1, 255))
    (directory / FIRST).write_bytes(contents)
    damaged = sum(end.offset <= flipped for end in ends[1:])

    if damaged < committed_records:
        writer = SegmentWriter(directory)
        (seal,) = read_seals(directory)
        assert (seal.begin, seal.end) == (ends[damaged], ends[damaged + 1])
        assert seal.records[0][0] == ends[damaged].offset
        writer.append([event(99)])
        writer.close()
        assert served(directory) == [*(one for one in range(4) if one != damaged), 99]
        assert (directory / FIRST).read_bytes() == bytes(contents), "a damaged segment is left as it is"
    else:
        SegmentWriter(directory).close()
        assert served(directory) == list(range(damaged))


@given(st.binary(max_size=200))
def test_any_bytes_after_the_mark_are_survived(tmp_path_factory: pytest.TempPathFactory, tail: bytes) -> None:
    directory = tmp_path_factory.mktemp("log")
    filled(directory, [3])
    with (directory / FIRST).open("ab") as segment:
        segment.write(tail)
    SegmentWriter(directory).close()
    assert served(directory) == [0]


@pytest.mark.parametrize("leftover", [b"", b"whence", b"whence-log 1\n\0\0\0", b"whence-log 1\n\0\0\0" + b"torn" * 20])
def test_a_crash_while_rotating(tmp_path: Path, leftover: bytes) -> None:
    small = SegmentSettings(segment_bytes=50)
    filled(tmp_path, [100], small)
    (tmp_path / "00000000000000000002.log").write_bytes(leftover)
    writer = SegmentWriter(tmp_path, small)
    assert writer.end.segment == 1
    writer.append([event(1)])
    assert writer.end.segment == 2
    writer.close()
    assert served(tmp_path) == [0, 1]


def test_a_mark_that_lags_by_segments_is_caught_up(tmp_path: Path) -> None:
    ends = filled(tmp_path, [100] * 5, SegmentSettings(segment_bytes=50))
    for lagging in ends:
        mark(tmp_path, lagging)
        SegmentWriter(tmp_path).close()
        assert committed_end(tmp_path) == ends[-1]
        assert served(tmp_path) == [0, 1, 2, 3, 4]


def test_repeats_are_known_after_a_restart_over_segments(tmp_path: Path) -> None:
    small = SegmentSettings(segment_bytes=50)
    filled(tmp_path, [100, 100, 100], small)
    writer = SegmentWriter(tmp_path, small)
    assert [appended.original is not None for appended in writer.append([event(0), event(1), event(2), event(3)])] == [
        True,
        True,
        True,
        False,
    ]
    writer.close()


def test_memory_of_keys_is_bounded(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, SegmentSettings(recent_keys=4))
    writer.append([event(number) for number in range(9)])
    forgotten, known = writer.append([event(0), event(8)])
    writer.close()
    assert forgotten.original is None
    assert known.original is not None


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path)
    with pytest.raises(LogBusyError, match="another process"):
        SegmentWriter(tmp_path)
    writer.close()
    SegmentWriter(tmp_path).close()


FULL_DISK = """
import resource, sys
from pathlib import Path
from whence.errors import LogError
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.write import SegmentWriter

def event(number):
    return Draft(kind=Kind.EVENT, key=number.to_bytes(16, "big"), received_at=number, payload=bytes(1000))

directory = Path(sys.argv[1])
writer = SegmentWriter(directory)
writer.append([event(0)])
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
try:
    writer.append([event(number) for number in range(1, 20)])
except LogError as error:
    print(error)
writer.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer = SegmentWriter(directory)
writer.append([event(50)])
"""


def test_a_write_that_the_system_refuses_leaves_no_torn_record(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    numbers = served(tmp_path)
    assert numbers == [0, *range(1, len(numbers) - 1), 50]
    assert len(numbers) < 10


def test_an_unwritable_directory_is_a_log_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match="cannot open the event log"):
        SegmentWriter(tmp_path / "file")


ENDLESS = """
import sys
from pathlib import Path
from whence.log import Kind
from whence.log.record import Draft
from whence.log.segments.write import SegmentSettings, SegmentWriter

writer = SegmentWriter(Path(sys.argv[1]), SegmentSettings(segment_bytes=20_000))
number = 0
while True:
    numbers = range(number, number + 3)
    block = bytes(3000)
    writer.append([Draft(kind=Kind.EVENT, key=n.to_bytes(16, "big"), received_at=n, payload=block) for n in numbers])
    number += 3
    print(number, flush=True)
"""


def test_kill_9_loses_nothing_acknowledged_and_readers_beside_it_never_fail(tmp_path: Path) -> None:
    log = SegmentSettings(segment_bytes=20_000)
    child = subprocess.Popen([sys.executable, "-c", ENDLESS, tmp_path], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    acknowledged = 0
    for line in child.stdout:
        acknowledged = int(line)
        numbers = served(tmp_path)
        assert numbers[:acknowledged] == list(range(acknowledged))
        if acknowledged >= 150:
            break
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read().split()
    acknowledged = int(rest[-1]) if rest else acknowledged
    child.wait()
    child.stdout.close()
    SegmentWriter(tmp_path, log).close()
    numbers = served(tmp_path)
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= acknowledged
