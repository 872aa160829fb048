"""The folders that the local runner leaves, one of each run, and what of each task is in them."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whence.capture.kubeflow.records import Artifact, Task
from whence.capture.members import object_at, objects_at, text_at
from whence.openlineage.json.wire import Json

_RUN = re.compile(r"(.+)-(\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d-\d{6})")
_ITERATION = re.compile(r"(.+)-iteration-(\d+)")
_OUTPUT, _CACHE = "executor_output.json", ".kfp_cache"
_LARGEST = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a task left in its folder. `outputs` is None if it began and did not end."""

    at: datetime
    outputs: tuple[Artifact, ...] | None
    numbers: Mapping[str, float]
    flaw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """A run: `written` has its tasks by the folder of each, and the names of iterations before it."""

    path: Path
    pipeline: str
    started: datetime
    written: Mapping[tuple[str, ...], Written]

    @property
    def changed(self) -> datetime:
        """When the last task wrote its outputs."""
        return max((one.at for one in self.written.values()), default=self.started)

    @property
    def digest(self) -> str:
        """Changes when a task writes."""
        return digest_of(sorted((key, one.at.isoformat(), one.outputs is None) for key, one in self.written.items()))

    def find(self, task: Task) -> Iterator[tuple[tuple[int, ...], Written]]:
        """What a task left, by its iterations."""
        loops = [one.rpartition(".")[2] for one in task.loops]
        for (*names, folder), found in self.written.items():
            iterations = [_ITERATION.fullmatch(one) for one in names]
            if folder == task.folder and [one[1] for one in iterations if one] == loops:
                yield tuple(int(one[2]) for one in iterations if one), found


def digest_of(state: object) -> str:
    """A digest of lists and texts."""
    return hashlib.sha256(repr(state).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def list_runs(root: Path) -> Iterator[RunFolder]:
    """The runs below a pipeline root, the oldest first."""
    found = sorted((one[2], one.string) for one in map(_RUN.fullmatch, _names(root)) if one)
    for started, name in found:
        path = root / name
        pipeline = name[: -len(started) - 1]
        at = datetime.strptime(started, "%Y-%m-%d-%H-%M-%S-%f").astimezone()
        yield RunFolder(path=path, pipeline=pipeline, started=at.astimezone(UTC), written=dict(_tasks(path)))


def has_cache(root: Path) -> bool:
    """Whether the runner keeps outputs, so that a task may not have run again."""
    return (root / _CACHE).is_dir()


def list_cached(root: Path) -> Iterator[tuple[datetime, tuple[Artifact, ...]]]:
    """The outputs that the runner keeps, each with its time. They have no name of a task."""
    for name in sorted(_names(root / _CACHE)):
        path = root / _CACHE / name
        if name.endswith(".json") and not name.startswith("."):
            at, document = _read(path)
            kept = {key: one for key, one in document.items() if isinstance(one, dict) and "__kfp_artifact__" in one}
            yield at, tuple(_artifact(key, one, text_at(one, "schema_title")) for key, one in kept.items())


def _names(folder: Path) -> list[str]:
    try:
        return [one.name for one in folder.iterdir()]
    except OSError:
        return []


def _tasks(folder: Path, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Written]]:
    for name in sorted(_names(folder)):
        path = folder / name
        if not path.is_dir():
            continue
        is_iteration = _ITERATION.fullmatch(name) and not (path / _OUTPUT).exists()
        if is_iteration:
            yield from _tasks(path, (*above, name))
        else:
            yield (*above, name), _written(path)


def _written(folder: Path) -> Written:
    path = folder / _OUTPUT
    if not path.exists():
        at = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
        return Written(at=at, outputs=None, numbers={})
    try:
        at, document = _read(path)
    except ValueError:
        at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        return Written(at=at, outputs=(), numbers={}, flaw=f"{_OUTPUT} cannot be read")
    lists = object_at(document, "artifacts")
    outputs = [_artifact(key, one) for key, each in lists.items() for one in objects_at(each, "artifacts")]
    return Written(at=at, outputs=tuple(outputs), numbers=_numbers(object_at(document, "parameterValues")))


def _read(path: Path) -> tuple[datetime, Json]:
    """Raises ValueError for a file that is no object in JSON."""
    state = path.stat()
    if state.st_size > _LARGEST:
        raise ValueError
    try:
        document: Any = json.loads(path.read_text("utf-8"))
    except (OSError, RecursionError) as error:
        raise ValueError from error
    if not isinstance(document, dict):
        raise ValueError
    return datetime.fromtimestamp(state.st_mtime, UTC), document


def _artifact(key: str, found: Json, type_: str = "") -> Artifact:
    return Artifact(key=key, uri=text_at(found, "uri"), type=type_, metadata=object_at(found, "metadata"))


def _numbers(values: Json) -> dict[str, float]:
    return {key: one for key, one in values.items() if isinstance(one, int | float) and not isinstance(one, bool)}
