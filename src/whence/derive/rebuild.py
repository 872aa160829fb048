"""`whence rebuild`: all that was ever received, from archive and log, through the same stages as one batch."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from whence.derive import records
from whence.derive.archive.coverage import rest_of_all
from whence.derive.archive.source import archived
from whence.derive.archive.table import Archive, find_archive
from whence.derive.pipeline import run_batch
from whence.derive.source import PARTITION_BYTES
from whence.derive.sources import source_of
from whence.errors import StoreError
from whence.log import Lane, Lanes, Log, Position
from whence.query.instants import iso
from whence.store.engine import open_store, read_progress
from whence.store.migrate import migrate
from whence.store.replace import replacing


def rebuild(session: SparkSession, log: Log, store_url: str, archive: str | None = None) -> None:
    """Build a new store beside the old one and swap it in; readers see the old one until then.

    Raises StoreBusyError while a pipeline runs, LogGapError if archive and log together do not have everything.
    """
    with log.retained(), replacing(store_url) as engine:
        found, lanes = _find(log, archive)
        history = source_of(log).batch(session, lanes)
        if found:
            history = archived(session, found, "readings").union(history)
        run_batch(history, engine, {lane.name: lane.end for lane in lanes})


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
