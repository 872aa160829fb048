"""`whence rebuild`: all that was ever received, from archive and log, through the same stages as one batch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from whence.derive import records
from whence.derive.archive.coverage import rest_of_all
from whence.derive.archive.source import archived, read_files
from whence.derive.archive.table import Archive, find_archive
from whence.derive.pipeline import run_batch
from whence.derive.source import PARTITION_BYTES
from whence.derive.sources import source_of
from whence.errors import StoreError
from whence.log import Lane, Lanes, Log, Position
from whence.log.segments.log import LANE, SegmentLog
from whence.log.segments.sealing import begin_behind, is_empty
from whence.query.instants import iso
from whence.store.engine import open_store, read_progress, reading
from whence.store.migrate import migrate
from whence.store.purge import enforce
from whence.store.replace import replacing
from whence.store.summary import Enforced, Horizon, read_horizons


def rebuild(session: SparkSession, log: Log, store_url: str, archive: str | None = None) -> None:
    """Build a new store beside the old one and swap it in; readers see the old one until then. What the old one has
    forgotten, the new one forgets at the same places of the log: so they are equal.

    Raises StoreBusyError while a pipeline runs, LogGapError if archive and log together do not have everything.
    """
    with log.retained(), replacing(store_url) as engine:
        begin_lost_log(log, archive)
        found, tail = _find(log, archive)
        for part, horizon in parts([_whole(found, lane) for lane in tail], _horizons(store_url)):
            history = source_of(log).batch(session, [_common(*both) for both in zip(part, tail, strict=True)])
            if found:
                history = _archived(session, found, part).union(history)
            run_batch(history, engine, {lane.name: lane.end for lane in (part if horizon else tail)})
            if horizon:
                enforce(engine, horizon)


def begin_lost_log(log: Log, archive: str | None) -> None:
    """Begin a log that is empty behind its archive, so that a position never means two records.

    Raises LogBusyError while a collector has it open.
    """
    found = find_archive(archive) if archive and isinstance(log, SegmentLog) else None
    reach = found.reach(LANE) if found else None
    if found and reach and isinstance(log, SegmentLog) and is_empty(log.directory):
        begin_behind(log.directory, Position.from_int(reach.until), sum(file.records for file in found.files()))


def _whole(archive: Archive | None, lane: Lane) -> Lane:
    """A lane up to where archive and log end: the archive may have more than a log that is new."""
    reach = archive.reach(lane.name) if archive else None
    return replace(lane, end=max(lane.end, Position.from_int(reach.until))) if reach else lane


def parts(lanes: Sequence[Lane], enforced: Sequence[Enforced]) -> Iterator[tuple[list[Lane], Horizon | None]]:
    """All that ever was in lanes, up to their ends, in parts: each ends where a horizon was enforced, the last one
    where the lanes do.
    """
    # Positions of several lanes differ in their segment, which is a lane's number (`log.Position`).
    since = {lane.name: Position(lane.start.segment if len(lanes) > 1 else 0, 0) for lane in lanes}
    for one in enforced:
        ends = {lane.name: _within(one.reached.get(lane.name), since[lane.name], lane.end) for lane in lanes}
        yield [Lane(name, since[name], end) for name, end in ends.items()], one.horizon
        since = ends
    yield [Lane(lane.name, since[lane.name], lane.end) for lane in lanes], None


def _within(reached: int | None, since: Position, end: Position) -> Position:
    return since if reached is None else min(max(Position.from_int(reached), since), end)


def _common(part: Lane, tail: Lane) -> Lane:
    """What of a part of a lane is in its tail."""
    start = min(max(part.start, tail.start), tail.end)
    return Lane(tail.name, start, max(start, min(part.end, tail.end)))


def _archived(session: SparkSession, archive: Archive, part: Sequence[Lane]) -> DataFrame:
    """Readings of what the archive has of these parts of the lanes."""
    ranges = [(lane.start.as_int, lane.end.as_int) for lane in part]
    files = [file for file in archive.files() if any(file.first < end and file.last >= start for start, end in ranges)]
    position = f.col("position")
    wanted = reduce(or_, [(position >= start) & (position < end) for start, end in ranges])
    return read_files(session, archive.uri, files, "readings").where(wanted)


def _horizons(store_url: str) -> Sequence[Enforced]:
    engine = open_store(store_url)
    with reading(engine) as connection:
        found = read_horizons(connection)
    engine.dispose()
    return found


def rebuild_as_of(session: SparkSession, log: Log, store_url: str, archive: str | None, before: int) -> None:
    """Build a store of what was received before a time (microseconds UTC). No stream goes on from it.

    Raises as `rebuild`.
    """
    with log.retained(), replacing(store_url) as engine:
        found, lanes = _find(log, archive)
        history = _readings_before(source_of(log).records(session, lanes, PARTITION_BYTES), before)
        if found:
            history = archived(session, found, "readings", before).union(history)
        run_batch(history, engine, _the_past(before))


def check_is_new(store_url: str) -> None:
    """Raises StoreError if something was derived into the store: the past never replaces the present by mistake."""
    engine = open_store(store_url)
    migrate(engine)
    progress = read_progress(engine)
    engine.dispose()
    if progress:
        raise StoreError("there is a store in that place already; --into wants a new or an empty one")


def _find(log: Log, archive: str | None) -> tuple[Archive | None, tuple[Lane, ...]]:
    """The archive, if there is one, and the rest, which only the log has. Raises LogGapError."""
    found = find_archive(archive) if archive else None
    return found, rest_of_all(found, log.lanes())


def _readings_before(received: DataFrame, before: int) -> DataFrame:
    return records.readings(received.where(f.col("received_at") < before))


def _the_past(before: int) -> Lanes:
    """A progress that no log has, so that no stream adds today's events to a store that lacks yesterday's."""
    return {f"what was received before {iso(before)}": Position.from_int(before)}
