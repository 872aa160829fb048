"""Files of a Git repository at a commit, out of its objects: no checkout, no network, any file name."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from whence.errors import ArtifactError

_SECONDS: Final = 120
_LARGEST: Final = 4 * 1024 * 1024
"""Bytes; a larger file is not code that somebody wrote."""
_FILE_MODES: Final = ("100644", "100755")
"""Files. Symbolic links and submodules lead out of the commit."""


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    object_id: str
    size: int


def merge_base(directory: Path, base: str, head: str) -> str:
    """The id of the newest commit that both versions have. Raises ArtifactError if there is none."""
    commits = [commit_id(directory, revision) for revision in (base, head)]
    return _git(directory, "merge-base", *commits).decode().split()[0]


def commit_id(directory: Path, revision: str) -> str:
    """The id of a commit that a person names. Raises ArtifactError if there is no such commit."""
    return _git(directory, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()


def read_files(directory: Path, revision: str, suffix: str = ".sql", under: str = "") -> Mapping[str, str]:
    """The text of all files with a suffix at a commit, by their path in the repository.

    `under`: only files in this folder. Bytes that are not UTF-8 are replaced; a byte order mark is not part of the
    text. Raises ArtifactError.
    """
    commit = commit_id(directory, revision)
    folder = f"{under.strip('/')}/" if under.strip("/") else ""
    entries = [
        entry
        for entry in _entries(directory, commit)
        if entry.path.endswith(suffix) and entry.path.startswith(folder) and entry.size <= _LARGEST
    ]
    return dict(_contents(directory, entries))


def _entries(directory: Path, commit: str) -> Iterator[_Entry]:
    """The files of a commit. Names end with a NUL byte, so they may have any other."""
    for line in _git(directory, "ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0"):
        if not line:
            continue
        attributes, _, name = line.partition(b"\t")
        mode, _, object_id, size = attributes.decode().split()
        if mode in _FILE_MODES:
            yield _Entry(name.decode("utf-8", "backslashreplace"), object_id, int(size))


def _contents(directory: Path, entries: list[_Entry]) -> Iterator[tuple[str, str]]:
    """The contents of files, asked for by the ids of their objects."""
    wanted = "".join(f"{entry.object_id}\n" for entry in entries).encode()
    answer = memoryview(_git(directory, "cat-file", "--batch", given=wanted)) if entries else memoryview(b"")
    position = 0
    for entry in entries:
        end = bytes(answer[position : position + 256]).index(b"\n") + position
        start = end + 1
        yield entry.path, bytes(answer[start : start + entry.size]).decode("utf-8-sig", "replace")
        position = start + entry.size + 1


def _git(directory: Path, *arguments: str, given: bytes | None = None) -> bytes:
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", "-C", str(directory), "--no-pager", "--no-replace-objects", *arguments]
    try:
        result = subprocess.run(
            command, input=given or b"", capture_output=True, timeout=_SECONDS, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ArtifactError(str(directory), f"git cannot be run: {error}") from error
    if result.returncode:
        reason = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ArtifactError(str(directory), f"git {arguments[0]}: {reason[-1] if reason else 'no answer'}")
    return result.stdout
