"""Spool files: unsent events, one JSON line each, in a file of each process, and how much of it was sent.

An event is in the file as soon as `append` returns, so that killing the process loses nothing; `sync` makes it survive
the machine too. A file belongs to the process that holds its lock. When that process is gone, another takes it over.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from threading import Lock
from typing import Callable

from whence_client.outbox.file_lock import try_lock

SUFFIX, SENT = ".events", ".sent"
_KEEP = 0.75
"""How much of the limit a compaction leaves."""

DropEvent = Callable[[bytes], None]


class Spool:
    """The file of one process. Raises OSError where the disk does; `path` is a file that exists or is made."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = Lock()
        self._file = _open_locked(path)
        self._sent = _read_sent(path)
        self.size = os.fstat(self._file).st_size
        if self._sent > self.size:
            self._sent = 0

    @property
    def waiting(self) -> int:
        """Bytes that are not sent yet."""
        return self.size - self._sent

    def append(self, line: bytes) -> None:
        """Add an event, a line without its end. Nothing is added if the disk is full."""
        whole = line + b"\n"
        with self._lock:
            written = os.write(self._file, whole)
            if written < len(whole):
                os.ftruncate(self._file, self.size)
                raise OSError("the disk of the outbox is full")
            self.size += written

    def read(self, most_bytes: int, most_events: int) -> list[bytes]:
        """The next unsent events, each with its line end."""
        with self._lock:
            return list(_lines(_pread(self._file, self._sent, most_bytes), most_events)) or self._first_line()

    def acknowledge(self, size: int) -> None:
        """Mark the next `size` bytes as sent. A file of which all is sent begins anew."""
        with self._lock:
            self._sent += size
            if self._sent >= self.size:
                os.ftruncate(self._file, 0)
                self._sent = self.size = 0
            _write_sent(self.path, self._sent)

    def sync(self) -> None:
        """Bring what was appended to the disk."""
        os.fsync(self._file)

    def compact(self, limit: int, drop: DropEvent) -> None:
        """Rewrite a file larger than `limit` bytes without the oldest RUNNING events, then without the oldest others.

        RUNNING events repeat the content of the end of a run. `drop` is called with each removed event.
        """
        with self._lock:
            if self.size - self._sent <= limit:
                return
            lines = _pread(self._file, self._sent, self.size - self._sent).splitlines(keepends=True)
            kept = _fit(lines, int(limit * _KEEP), drop)
            self._replace(b"".join(kept))

    def close(self) -> None:
        """Release the file; it is removed if all of it was sent."""
        with self._lock:
            if self._sent >= self.size:
                remove_spool(self.path)
            os.close(self._file)

    def abandon(self) -> None:
        """Close the file in a forked child: it stays the parent's, whose lock it is."""
        os.close(self._file)

    def _first_line(self) -> list[bytes]:
        """The next event if it is longer than what is read at a time; a torn last line is no event."""
        rest = _pread(self._file, self._sent, self.size - self._sent)
        end = rest.find(b"\n")
        if end < 0 and rest:
            self._sent = self.size
            _write_sent(self.path, self._sent)
        return [rest[: end + 1]] if end >= 0 else []

    def _replace(self, content: bytes) -> None:
        temporary = f"{self.path}.new"
        new = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try_lock(new)
        if os.write(new, content) < len(content):
            os.close(new)
            raise OSError("the disk of the outbox is full")
        os.fsync(new)
        _write_sent(self.path, 0)
        os.replace(temporary, self.path)
        os.close(self._file)
        self._file, self._sent, self.size = new, 0, len(content)


def new_path(folder: str) -> str:
    """The path of a new spool file; later ones sort after earlier ones."""
    return os.path.join(folder, f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(3).hex()}{SUFFIX}")


def abandoned(folder: str) -> Iterator[Spool]:
    """The files of processes that are gone, oldest first, locked. The caller closes them."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except OSError:
        return
    for name in names:
        spool = _try_open(os.path.join(folder, name))
        if spool is not None:
            yield spool


def remove_spool(path: str) -> None:
    """Remove a spool file and its mark."""
    for one in (path, path + SENT):
        if os.path.exists(one):
            os.remove(one)


def _try_open(path: str) -> Spool | None:
    try:
        return Spool(path)
    except OSError:
        return None


def _open_locked(path: str) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    is_current = try_lock(descriptor) and os.path.exists(path) and os.path.samestat(os.fstat(descriptor), os.stat(path))
    if not is_current:
        os.close(descriptor)
        raise OSError(f"{path} belongs to another process")
    return descriptor


def _read_sent(path: str) -> int:
    try:
        with open(path + SENT, "rb") as file:
            return int(file.read() or b"0")
    except (OSError, ValueError):
        return 0  # sent again: duplicates are free


def _write_sent(path: str, sent: int) -> None:
    with open(path + SENT, "wb") as file:
        file.write(b"%d" % sent)


def _pread(descriptor: int, offset: int, size: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, max(size, 0))


def _lines(content: bytes, most: int) -> Iterator[bytes]:
    for line in content.splitlines(keepends=True)[:most]:
        if line.endswith(b"\n"):
            yield line


def _fit(lines: list[bytes], limit: int, drop: DropEvent) -> list[bytes]:
    surplus = sum(map(len, lines)) - limit
    for is_droppable in (_is_running, lambda _: True):
        kept = []
        for line in lines:
            if surplus > 0 and is_droppable(line):
                surplus -= len(line)
                drop(line)
            else:
                kept.append(line)
        lines = kept
    return lines


def _is_running(line: bytes) -> bool:
    if b'"RUNNING"' not in line:
        return False
    try:
        return bool(json.loads(line).get("eventType") == "RUNNING")
    except ValueError:
        return True
