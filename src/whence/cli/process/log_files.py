"""Log files of the supervised processes: each is rotated before it fills the disk, also while its process runs."""

import contextlib
import os
import shutil
from pathlib import Path

MAX_BYTES = 10 << 20
KEPT_FILES = 3
"""Older files of each log, `.1` the newest."""


def rotate_log(log: Path, max_bytes: int = MAX_BYTES) -> bool:
    """Keep a log that is larger than `max_bytes` as `.1`, the earlier `.1` as `.2`, and so on. Whether it did.

    The file is copied and then emptied, because its process goes on appending to it. What it writes
    between the two is lost. Without space for the copy the log is emptied all the same: it must not fill the disk.
    """
    try:
        if log.stat().st_size <= max_bytes:
            return False
    except OSError:
        return False
    for number in range(KEPT_FILES, 1, -1):
        with contextlib.suppress(OSError):
            _older(log, number - 1).replace(_older(log, number))
    with contextlib.suppress(OSError):
        _copy(log, _older(log, 1))
    with contextlib.suppress(OSError):
        os.truncate(log, 0)
    return True


def _copy(log: Path, older: Path) -> None:
    try:
        shutil.copyfile(log, older)
    except OSError:
        older.unlink(missing_ok=True)
        raise


def _older(log: Path, number: int) -> Path:
    return log.with_name(f"{log.name}.{number}")
