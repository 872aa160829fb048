"""The single writer of a log in segments: takes the lock, recovers after a crash, appends durably."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whence.errors import LogError
from whence.log.position import Position
from whence.log.recent_keys import RecentKeys
from whence.log.record import Appended, Draft, Kind
from whence.log.segments.codec import encode, encode_receipt, event_keys
from whence.log.segments.damaged_ranges import sound_ranges
from whence.log.segments.files import (
    FIRST_OFFSET,
    ORIGIN,
    create_segment,
    list_segments,
    lock_log,
    make_directory,
    open_head,
    segment_path,
    write_all,
    write_head,
)
from whence.log.segments.read import map_segment
from whence.log.segments.recover import recover

_PROBE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSettings:
    """Size settings. A segment is closed once it has `segment_bytes`; its last batch may exceed that."""

    segment_bytes: int = 64 << 20
    recent_keys: int = 100_000
    recent_segments: int = 4
    """How many of the last segments are checked for damage and read for their keys when the log is opened."""


class SegmentWriter:
    """Appends to the log. After any LogError from `append`, close it and open a new one: opening repairs."""

    def __init__(self, directory: Path, settings: SegmentSettings = SegmentSettings()) -> None:
        """Open, lock and recover the log. Raises LogBusyError, LogCorruptError, LogError."""
        self._directory = directory
        self._settings = settings
        self._recent_keys = RecentKeys(settings.recent_keys)
        self._turn = 0
        self._segment_fd = self._head_fd = -1
        self._end = ORIGIN
        with _io_errors("open"):
            make_directory(directory)
            self._lock_fd = lock_log(directory)
            try:
                self._recover_log()
            except (OSError, LogError):
                self.close()
                raise

    @property
    def end(self) -> Position:
        """The end of the log; everything before it is durable."""
        return self._end

    def append(self, drafts: Sequence[Draft]) -> list[Appended]:
        """Append all drafts with one sync. An event with a recently seen key is stored as a receipt.

        Raises LogError if the disk rejects the write. None of the drafts then counts as stored; close and reopen the
        writer.
        """
        with _io_errors("write to"):
            if self._end.offset >= self._settings.segment_bytes:
                self._rotate()
            records, appended, fresh = self._encode_drafts(drafts)
            block = b"".join(records)
            write_all(self._segment_fd, block, self._end.offset)
            os.fdatasync(self._segment_fd)
            self._publish(Position(self._end.segment, self._end.offset + len(block)))
        for key, position in fresh.items():
            self._recent_keys.add(key, position)
        return appended

    def check_writable(self) -> Sequence[Appended]:
        """Check that `append` would work: write and sync a block after the end, and truncate it. Raises LogError."""
        with _io_errors("write to"):
            write_all(self._segment_fd, bytes(_PROBE_BYTES), self._end.offset)
            os.fdatasync(self._segment_fd)
            os.ftruncate(self._segment_fd, self._end.offset)
        return ()

    def close(self) -> None:
        """Close the files and release the lock."""
        for fd in (self._segment_fd, self._head_fd, self._lock_fd):
            if fd >= 0:
                os.close(fd)
        self._segment_fd = self._head_fd = self._lock_fd = -1

    def _encode_drafts(self, drafts: Sequence[Draft]) -> tuple[list[bytes], list[Appended], dict[bytes, Position]]:
        records: list[bytes] = []
        appended: list[Appended] = []
        fresh: dict[bytes, Position] = {}
        segment, offset = self._end.segment, self._end.offset
        for draft in drafts:
            is_event = draft.kind is Kind.EVENT
            original = (fresh.get(draft.key) or self._recent_keys.find(draft.key)) if is_event else None
            position = Position(segment, offset)
            record = encode_receipt(draft.key, draft.received_at, original) if original else encode(draft)
            if is_event and not original:
                fresh[draft.key] = position
            records.append(record)
            appended.append(Appended(position=position, original=original))
            offset += len(record)
        return records, appended, fresh

    def _rotate(self) -> None:
        fd = create_segment(self._directory, self._end.segment + 1)
        os.close(self._segment_fd)
        self._segment_fd = fd
        self._end = Position(self._end.segment + 1, FIRST_OFFSET)

    def _publish(self, end: Position) -> None:
        self._turn += 1
        write_head(self._head_fd, end, self._turn)
        self._end = end

    def _recover_log(self) -> None:
        self._end = recover(self._directory, self._settings.recent_segments)
        self._segment_fd = os.open(segment_path(self._directory, self._end.segment), os.O_RDWR | os.O_CLOEXEC)
        self._head_fd = open_head(self._directory, self._end)
        self._load_recent_keys()

    def _load_recent_keys(self) -> None:
        kept = [segment for segment in list_segments(self._directory) if segment <= self._end.segment]
        for segment in kept[-self._settings.recent_segments :]:
            is_last = segment == self._end.segment
            size = self._end.offset if is_last else segment_path(self._directory, segment).stat().st_size
            with map_segment(self._directory, segment, size) as data:
                for low, high in sound_ranges(self._directory, segment, FIRST_OFFSET, size):
                    for key, offset in event_keys(data, low, high):
                        self._recent_keys.add(key, Position(segment, offset))


@contextmanager
def _io_errors(action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LogError(f"cannot {action} the event log: {error}") from error
