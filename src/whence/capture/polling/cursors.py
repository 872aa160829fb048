"""Cursors: where each poll of each source is, in a file of its own that is replaced as a whole."""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What is known of the polls of one source. `cursor` is the capture's own; times are ISO 8601, in UTC."""

    capture: str
    instance: str
    cursor: Any = None
    polled: str = ""
    last_event: str = ""
    problem: str = ""
    """Why the last poll ended early; empty if it did not."""


@dataclass(frozen=True, slots=True)
class Cursors:
    """The cursors below a directory. Two pollers of one source may run: the later save wins, duplicates are free."""

    directory: Path

    def load(self, capture: str, instance: str) -> Progress:
        """The progress of a source; at the beginning if there is none, or its file is broken."""
        try:
            return Progress(**json.loads(self._path(capture, instance).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return Progress(capture=capture, instance=instance)

    def save(self, progress: Progress) -> None:
        """Replace the progress of a source, durably. Raises OSError."""
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self._path(progress.capture, progress.instance)
        temporary = path.with_suffix(f".{os.getpid()}.new")
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(asdict(progress), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)

    def __iter__(self) -> Iterator[Progress]:
        for path in sorted(self.directory.glob(f"*{_SUFFIX}")):
            try:
                yield Progress(**json.loads(path.read_text("utf-8")))
            except (OSError, ValueError, TypeError):
                continue

    def _path(self, capture: str, instance: str) -> Path:
        key = hashlib.sha256(f"{len(capture)}:{capture}{instance}".encode()).hexdigest()[:16]
        return self.directory / f"{key}{_SUFFIX}"
