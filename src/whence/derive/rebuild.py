"""`whence rebuild`: derives all records ever received, of archive and log, as one batch through the stream's pass."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from whence.derive.archive.coverage import unarchived_lanes_if_complete
from whence.derive.archive.source import Selection, read_archive
from whence.derive.archive.table import Archive, find_archive
from whence.derive.micro_batch import run_batch
from whence.derive.reading.records import COPY, transform_records
from whence.derive.sources.event_log import make_source
from whence.derive.writing.merge import merge_into
from whence.errors import StoreError
from whence.log import Lane, Lanes, Log, Position
from whence.log.segments.damage_sealing import begin_after, is_empty
from whence.log.segments.log import LANE, SegmentLog
from whence.query.answers.instants import iso
from whence.store.connection.data_key import store_address
from whence.store.connection.engine import open_store, read_progress, reading
from whence.store.ingest.retention_summary import EnforcedHorizon, RetentionHorizon, read_horizons
from whence.store.lifecycle.purge import enforce_horizon
from whence.store.lifecycle.replace import replace_store
from whence.store.migrations.migrate import migrate


def rebuild(session: SparkSession, log: Log, store_url: str, archive: str | None = None) -> None:
    """Build a new store beside the old one and swap it in; readers use the old one until then. The new store deletes
    what the old one deleted, at the same positions of the log, so that both are equal.

    Raises StoreBusyError while a pipeline runs, LogGapError if archive and log together are incomplete.
    """
    with log.prevent_deletion(), replace_store(store_url) as engine:
        begin_lost_log(log, archive)
        archived, tail = _find_archive_and_tail(log, archive)
        transform = merge_into(store_address(engine))
        for part, horizon in split_at_horizons(
            [_extend_to_archive(archived, lane) for lane in tail], _read_enforced_horizons(store_url)
        ):
            rest = [_intersect_lanes(*lanes) for lanes in zip(part, tail, strict=True)]
            history = make_source(log).batch(session, rest, transform)
            if archived:
                selection = Selection(ranges=[(lane.start.as_int, lane.end.as_int) for lane in part])
                history = read_archive(session, archived, transform, selection).union(history)
            run_batch(history, engine, {lane.name: lane.end for lane in (part if horizon else tail)})
            if horizon:
                enforce_horizon(engine, horizon)


def begin_lost_log(log: Log, archive: str | None) -> None:
    """Start an empty log after the end of its archive, so that no position is ever used for two records.

    Raises LogBusyError while a collector has the log open.
    """
    found = find_archive(archive) if archive and isinstance(log, SegmentLog) else None
    reach = found.reach(LANE) if found else None
    if found and reach and isinstance(log, SegmentLog) and is_empty(log.directory):
        begin_after(log.directory, Position.from_int(reach.until), sum(file.records for file in found.files()))


def _extend_to_archive(archive: Archive | None, lane: Lane) -> Lane:
    """A lane up to the end of archive and log: the archive may have more than a new log."""
    reach = archive.reach(lane.name) if archive else None
    return replace(lane, end=max(lane.end, Position.from_int(reach.until))) if reach else lane


def split_at_horizons(
    lanes: Sequence[Lane], enforced: Sequence[EnforcedHorizon]
) -> Iterator[tuple[list[Lane], RetentionHorizon | None]]:
    """Split the whole history of lanes into parts: each ends where a horizon was enforced, the last one at the lanes'
    ends.

    Yields the lanes of each part, and its horizon (None for the last).
    """
    # Positions of several lanes differ in their segment, which is a lane's number (`log.Position`).
    starts = {lane.name: Position(lane.start.segment if len(lanes) > 1 else 0, 0) for lane in lanes}
    for enforced_horizon in enforced:
        ends = {
            lane.name: _clamp_position(enforced_horizon.reached.get(lane.name), starts[lane.name], lane.end)
            for lane in lanes
        }
        yield [Lane(name, starts[name], end) for name, end in ends.items()], enforced_horizon.horizon
        starts = ends
    yield [Lane(lane.name, starts[lane.name], lane.end) for lane in lanes], None


def _clamp_position(reached: int | None, since: Position, end: Position) -> Position:
    return since if reached is None else min(max(Position.from_int(reached), since), end)


def _intersect_lanes(part: Lane, tail: Lane) -> Lane:
    """The intersection of a part of a lane with the lane's tail."""
    start = min(max(part.start, tail.start), tail.end)
    return Lane(tail.name, start, max(start, min(part.end, tail.end)))


def _read_enforced_horizons(store_url: str) -> Sequence[EnforcedHorizon]:
    engine = open_store(store_url)
    with reading(engine) as connection:
        found = read_horizons(connection)
    engine.dispose()
    return found


def rebuild_as_of(session: SparkSession, log: Log, store_url: str, archive: str | None, before: int) -> None:
    """Build a store of the records received before a time (microseconds UTC). No stream can continue it.

    Raises the same errors as `rebuild`.
    """
    with log.prevent_deletion(), replace_store(store_url) as engine:
        found, lanes = _find_archive_and_tail(log, archive)
        transform = merge_into(store_address(engine))
        received = make_source(log).batch(session, lanes, COPY).where(f.col("received_at") < before)
        history = transform_records(received, transform)
        if found:
            history = read_archive(session, found, transform, Selection(before=before)).union(history)
        run_batch(history, engine, _past_progress(before))


def check_is_new(store_url: str) -> None:
    """Raise StoreError if the store has progress: a store of the past must not replace the present by mistake."""
    engine = open_store(store_url)
    migrate(engine)
    progress = read_progress(engine)
    engine.dispose()
    if progress:
        raise StoreError("--into needs a new or empty store, but this one has data")


def _find_archive_and_tail(log: Log, archive: str | None) -> tuple[Archive | None, tuple[Lane, ...]]:
    """The archive, if it exists, and the remaining lanes, which only the log has. Raises LogGapError."""
    found = find_archive(archive) if archive else None
    return found, unarchived_lanes_if_complete(found, log.list_lanes())


def _past_progress(before: int) -> Lanes:
    """A progress that no log has, so that no stream adds today's events to a store without yesterday's."""
    return {f"what was received before {iso(before)}": Position.from_int(before)}
