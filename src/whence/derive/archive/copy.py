"""`whence archive`: copies the records that the log has and the archive lacks, exactly once: a commit holds both the
files and the positions where they end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from whence.derive.archive.compaction import compact_archive
from whence.derive.archive.coverage import cut_before_damage, unarchived_lanes
from whence.derive.archive.table import Archive, ArchiveFile, Reach, find_archive, open_archive
from whence.derive.archive.write import write_files
from whence.derive.reading.records import COPY
from whence.derive.sources.event_log import make_source
from whence.derive.spark.periodic_jobs import free_cores
from whence.errors import TableBusyError
from whence.log import Lane, Log, Position
from whence.log.segments.drop import drop_segments
from whence.log.segments.log import LANE, SegmentLog

_SHORT_TASK_BYTES = 128 << 20
"""Bytes of the log per short task, of one to two seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes in bytes of the log (a file of events has 2 % of them)."""

    task: int = 1 << 30
    """The bytes that one task writes, into one file if they are of one day."""
    portion: int = 8 << 30
    """The bytes per commit: a killed process loses no more work than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The result of one archiving run: the archived parts of the lanes."""

    lanes: tuple[Lane, ...]
    records: int
    files: int
    bytes: int


def archive_log(session: SparkSession, log: Log, uri: str, sizes: Sizes = Sizes()) -> Copied:
    """Archive the log up to its committed end, or up to its first damage.

    Raises LogCorruptError if the next record is damaged, LogGapError, TableBusyError, TableError.
    """
    source = make_source(log)
    written: list[ArchiveFile] = []
    with log.prevent_deletion():
        archive = open_archive(uri)
        lanes = tuple(cut_before_damage(lane, log.list_seals()) for lane in unarchived_lanes(archive, log.list_lanes()))
        for portion in source.cut(lanes, sizes.portion):
            archive, files = append_records(archive, portion, source.batch(session, portion, COPY, sizes.task))
            written += files
    return Copied(
        lanes=lanes,
        records=sum(file.records for file in written),
        files=len(written),
        bytes=sum(file.size for file in written),
    )


def archive_in_background(session: SparkSession, log: Log, uri: str) -> None:
    """Archive and compact in short tasks, on the cores that a stream leaves free."""
    archive_log(session, log, uri, Sizes(task=_SHORT_TASK_BYTES, portion=_SHORT_TASK_BYTES * free_cores(session)))
    compact_archive(session, uri)


def append_records(archive: Archive, lanes: Sequence[Lane], records: DataFrame) -> tuple[Archive, list[ArchiveFile]]:
    """Write and commit the records of the lanes. `records` is a records frame whose partitions are ordered by position.

    Raises TableBusyError if another archiver moved the archive's end; nothing is archived then.
    """
    reaches = {lane.name: archive.reach(lane.name) or Reach(lane.start.as_int, lane.start.as_int) for lane in lanes}
    if any(reaches[lane.name].until != lane.start.as_int for lane in lanes):
        raise TableBusyError(archive.uri)
    files = write_files(records, archive.uri)
    ends = {lane.name: Reach(reaches[lane.name].since, lane.end.as_int) for lane in lanes}
    return archive.append(files, ends), files


def drop_archived(log: SegmentLog, uri: str, applied: Mapping[str, int]) -> tuple[int, ...]:
    """Delete the log's segments whose records both the archive and a store with progress `applied` have.

    Returns their numbers. Raises LogBusyError while an archiver or a rebuild reads the log.
    """
    archive = find_archive(uri)
    reach = archive.reach(LANE) if archive else None
    if archive is None or reach is None:
        return ()
    archive.make_durable()
    return drop_segments(log.directory, Position.from_int(min(reach.until, applied.get(LANE, 0))))
