"""Files of events: JSON, JSON lines, gzip of either, or directories of them."""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

_LINE_SUFFIXES = (".jsonl", ".ndjson", ".events")
_SUFFIXES = (".json", *_LINE_SUFFIXES)


@dataclass(frozen=True, slots=True)
class EventText:
    """An event, not decoded, and its place (`file:line` or `file[index]`)."""

    place: str
    body: bytes


def find_event_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files of paths; of a directory, those below it that look like events."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file() and _has_events(file))
        else:
            yield path


def _has_events(path: Path) -> bool:
    return _bare(path).suffix in _SUFFIXES or _is_sparks(path)


def _is_sparks(path: Path) -> bool:
    """Whether Spark wrote the lines: it calls them text."""
    return path.name.startswith("part-") and _bare(path).suffix == ".txt"


def _bare(path: Path) -> Path:
    return path.with_suffix("") if path.suffix == ".gz" else path


def read_events(path: Path) -> Iterator[EventText]:
    """The events of a file, not decoded. JSON lines are read as a stream."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        if _bare(path).suffix in _LINE_SUFFIXES or _is_sparks(path):
            yield from _lines(path, stream)
            return
        content = stream.read()
    if content.lstrip()[:1] == b"[" and is_json(content):
        array = msgspec.json.decode(content, type=list[msgspec.Raw])
        yield from (EventText(f"{path}[{index}]", bytes(element)) for index, element in enumerate(array))
    elif is_json(content) or content.count(b"\n") < 2:
        yield EventText(str(path), content)
    else:
        yield from _lines(path, content.splitlines())


def _lines(path: Path, lines: Iterable[bytes]) -> Iterator[EventText]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield EventText(f"{path}:{number}", line.strip())


def is_json(body: bytes) -> bool:
    """Whether a text is JSON."""
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
