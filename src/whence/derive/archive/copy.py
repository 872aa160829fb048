"""`whence archive`: what the log has and the archive does not, copied; exactly once, for a commit holds both the files
and where they end.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pyspark.sql import DataFrame, SparkSession

from whence.derive.archive.coverage import before_damage, rest
from whence.derive.archive.source import read_files
from whence.derive.archive.table import Archive, ArchiveFile, Reach, find_archive, open_archive
from whence.derive.archive.write import write_files
from whence.derive.delta.parquet import FILE_BYTES
from whence.derive.schedule import free_cores
from whence.derive.sources import source_of
from whence.errors import TableBusyError
from whence.log import Lane, Log, Position
from whence.log.segments.drop import drop_segments
from whence.log.segments.log import LANE, SegmentLog

_SHORT = 128 << 20
"""Of the log: a task of one to two seconds."""

CROWDED = 8
"""Small files of one day that are worth writing again as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Bytes of the log (of events, a file has 2 % of them)."""

    task: int = 1 << 30
    """What one task writes, into one file where it is of one day."""
    portion: int = 8 << 30
    """What one commit takes: a kill loses no more work than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What one run archived: these parts of the lanes."""

    lanes: tuple[Lane, ...]
    records: int
    files: int
    bytes: int


def archive_log(session: SparkSession, log: Log, uri: str, sizes: Sizes = Sizes()) -> Copied:
    """Archive the log up to where it is durable now, or to where it is damaged.

    Raises LogCorruptError if damage is what comes next, LogGapError, TableBusyError, TableError.
    """
    source = source_of(log)
    written: list[ArchiveFile] = []
    with log.retained():
        archive = open_archive(uri)
        lanes = tuple(before_damage(lane, log.seals()) for lane in rest(archive, log.lanes()))
        for portion in source.cut(lanes, sizes.portion):
            archive, files = append(archive, portion, source.records(session, portion, sizes.task))
            written += files
    return Copied(
        lanes=lanes,
        records=sum(file.records for file in written),
        files=len(written),
        bytes=sum(file.size for file in written),
    )


def archive_beside(session: SparkSession, log: Log, uri: str) -> None:
    """The same and `tidy`, in short tasks on the cores that a stream leaves free."""
    archive_log(session, log, uri, Sizes(task=_SHORT, portion=_SHORT * free_cores(session)))
    tidy(session, uri)


def append(archive: Archive, lanes: Sequence[Lane], records: DataFrame) -> tuple[Archive, list[ArchiveFile]]:
    """Write what is in the lanes, and commit it. `records` is a records frame; each of its partitions is ordered by
    position. Raises TableBusyError if the archive ends elsewhere meanwhile; then nothing of it is archived.
    """
    reaches = {lane.name: archive.reach(lane.name) or Reach(lane.start.as_int, lane.start.as_int) for lane in lanes}
    if any(reaches[lane.name].until != lane.start.as_int for lane in lanes):
        raise TableBusyError(archive.uri)
    files = write_files(records, archive.uri)
    ends = {lane.name: Reach(reaches[lane.name].since, lane.end.as_int) for lane in lanes}
    return archive.append(files, ends), files


def tidy(session: SparkSession, uri: str) -> None:
    """Put the many small files of a day that is over into one; delete files that nothing refers to any more.

    Raises TableBusyError if another archiver commits meanwhile.
    """
    archive = open_archive(uri)
    files = archive.files()
    newest = max((file.day for file in files), default="")
    small = [file for file in files if file.size < FILE_BYTES // 2 and file.day < newest]
    counts = Counter(file.day for file in small)
    for day, crowd in groupby(sorted(small, key=lambda file: (file.day, file.first)), key=lambda file: file.day):
        if counts[day] >= CROWDED:
            old = list(crowd)
            # One partition, so that one task writes them in order.
            new = write_files(read_files(session, uri, old, "records").coalesce(1), uri)
            archive = archive.exchange(old, new, time.time_ns() // 1_000_000)
    archive.vacuum()


def drop_archived(log: SegmentLog, uri: str, applied: Mapping[str, int]) -> tuple[int, ...]:
    """Delete the log's segments that both the archive and a store, whose progress is `applied`, have; their numbers.

    Raises LogBusyError while an archiver or a rebuild reads the log.
    """
    archive = find_archive(uri)
    reach = archive.reach(LANE) if archive else None
    if archive is None or reach is None:
        return ()
    archive.make_durable()
    return drop_segments(log.directory, Position.from_int(min(reach.until, applied.get(LANE, 0))))
