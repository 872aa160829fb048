"""Retention of raw events: removes from the archive the days that are old enough and that the store has derived."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from whence.derive.archive.table import Archive, ArchiveFile, find_archive
from whence.log import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A removed day of the archive (ISO 8601), by when its records were received."""

    day: str
    records: int
    bytes: int


def list_old_days(uri: str, before: int, applied: Mapping[str, int]) -> tuple[Day, ...]:
    """The days before a time (µs) that a store with progress `applied` has completely derived, oldest first.

    Raises TableError.
    """
    archive = find_archive(uri)
    return _summarise_days(_select_old_files(archive, before, applied)) if archive else ()


def remove_old_days(uri: str, before: int, applied: Mapping[str, int], now_millis: int) -> tuple[Day, ...]:
    """Remove these days from the archive. Rebuilds are refused from then on, because the history is incomplete.

    The files are deleted a week later, when the archive is compacted. Raises TableBusyError, TableError.
    """
    archive = find_archive(uri)
    files = _select_old_files(archive, before, applied) if archive else []
    if archive and files:
        archive.forget(files, _new_starts(archive, files, applied), now_millis)
    return _summarise_days(files)


def _select_old_files(archive: Archive, before: int, applied: Mapping[str, int]) -> list[ArchiveFile]:
    """The files of complete days, from the first day on, so that the remaining history has no gaps."""
    limit = datetime.fromtimestamp(before / 1_000_000, UTC).date().isoformat()
    by_day: dict[str, list[ArchiveFile]] = {}
    for file in archive.files():
        by_day.setdefault(file.day, []).append(file)
    old: list[ArchiveFile] = []
    for day in sorted(by_day):
        if day >= limit or not all(_is_applied(archive, file, applied) for file in by_day[day]):
            break
        old += by_day[day]
    return old


def _is_applied(archive: Archive, file: ArchiveFile, applied: Mapping[str, int]) -> bool:
    """Whether a store has derived a whole file. For a file of several lanes, only if it has everything archived of
    them.
    """
    lanes = _lanes_in(file, applied)
    if len(lanes) == 1:
        return file.last < applied[lanes[0]]
    reaches = {lane: archive.reach(lane) for lane in lanes}
    return bool(lanes) and all(reach and applied[lane] >= reach.until for lane, reach in reaches.items())


def _new_starts(archive: Archive, gone: Sequence[ArchiveFile], applied: Mapping[str, int]) -> Mapping[str, int]:
    """The new starts of the lanes in these files, once they are removed."""
    left = [file for file in archive.files() if file not in gone]
    begins: dict[str, int] = {}
    for lane in {lane for file in gone for lane in _lanes_in(file, applied)}:
        reach = archive.reach(lane)
        firsts = [file.first for file in left if lane in _lanes_in(file, applied)[:1]]
        if reach:
            begins[lane] = min(firsts, default=reach.until)
    return begins


def _lanes_in(file: ArchiveFile, applied: Mapping[str, int]) -> list[str]:
    """The lanes that a file may contain. If there are several, a position's segment is the number of its lane."""
    if len(applied) == 1:
        return list(applied)
    low, high = Position.from_int(file.first).segment, Position.from_int(file.last).segment
    numbers = {lane: Position.from_int(place).segment for lane, place in applied.items()}
    return sorted((lane for lane, number in numbers.items() if low <= number <= high), key=numbers.__getitem__)


def _summarise_days(files: Sequence[ArchiveFile]) -> tuple[Day, ...]:
    days = dict.fromkeys(file.day for file in files)
    return tuple(
        Day(
            day=day,
            records=sum(file.records for file in files if file.day == day),
            bytes=sum(file.size for file in files if file.day == day),
        )
        for day in days
    )
