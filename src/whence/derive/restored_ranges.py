"""Restored ranges of the log: they were damaged when the stream passed them, and are derived later."""

import logging
from collections.abc import Sequence

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.micro_batch import run_batch
from whence.derive.sources.event_log import make_source
from whence.derive.writing.merge import merge_into
from whence.log import Lane, Log, Position, Seal
from whence.store.connection.data_key import store_address
from whence.store.connection.engine import read_progress, reading
from whence.store.ingest.retention_summary import read_horizons
from whence.store.status.ledger import accounted_positions

logger = logging.getLogger(__name__)

_MANY = 1 << 40


def derive_restored(session: SparkSession, log: Log, engine: Engine, seals: Sequence[Seal]) -> None:
    """Derive restored ranges that the store lacks although its progress is past them. Raises LogError, StoreError."""
    for seal in seals:
        lane = log.lane_of(seal.begin)
        reached = {name: Position.from_int(position) for name, position in read_progress(engine).items()}
        if lane not in reached or reached[lane] < seal.end:
            continue
        if seal.state != "restored":
            logger.warning("passed the damaged range from %s to %s of the event log (%s)", *_bounds(seal), seal.state)
        elif _has_missing_records(log, engine, seal):
            transform = merge_into(store_address(engine))
            history = make_source(log).batch(session, [Lane(lane, seal.begin, seal.end)], transform)
            run_batch(history, engine, reached)
            logger.warning("derived the restored range from %s to %s of the event log", *_bounds(seal))


def _has_missing_records(log: Log, engine: Engine, seal: Seal) -> bool:
    """Whether a record of the range has no outcome. Records before the last horizon were deleted on purpose."""
    lane = log.lane_of(seal.begin)
    with reading(engine) as connection:
        forgotten = [horizon.reached.get(lane, 0) for horizon in read_horizons(connection)]
        low = max([seal.begin.as_int, *forgotten])
        positions = {horizon.as_int for horizon in log.list_positions(Position.from_int(low), seal.end, _MANY)}
        return not positions <= accounted_positions(connection, low, seal.end.as_int)


def _bounds(seal: Seal) -> tuple[Position, Position]:
    return seal.begin, seal.end
