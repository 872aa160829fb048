"""Who on a machine may read the files of Whence: its user and its group, nobody else."""

import os
from collections.abc import Iterator
from pathlib import Path

_OTHERS = 0o027
"""What the group may not do with a file (write it), and what others may not (anything)."""


def restrict_new_files() -> None:
    """Let no file or directory that this process and its children make be read by others."""
    os.umask(os.umask(_OTHERS) | _OTHERS)


def restrict_directory(directory: Path) -> list[Path]:
    """Take rights that others have at a directory and the files right in it. Returns what is still open, for it is
    somebody else's.
    """
    return [path for path in (directory, *_files(directory)) if not _restrict(path)]


def _files(directory: Path) -> Iterator[Path]:
    with os.scandir(directory) as entries:
        yield from (Path(one.path) for one in entries if one.is_file(follow_symlinks=False))


def _restrict(path: Path) -> bool:
    try:
        mode = path.stat().st_mode & 0o7777
        if mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)
    except FileNotFoundError:  # a temporary file that is gone
        return True
    except PermissionError:
        return False
    return True
