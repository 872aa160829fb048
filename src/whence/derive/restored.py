"""Ranges of the log that were damaged when the stream passed them, and are restored: derived now."""

import logging
from collections.abc import Sequence

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.pipeline import run_batch
from whence.derive.sources import source_of
from whence.log import Lane, Log, Position, Seal
from whence.store.engine import read_progress, reading
from whence.store.ledger import accounted
from whence.store.summary import read_horizons

logger = logging.getLogger(__name__)

_MANY = 1 << 40


def derive_restored(session: SparkSession, log: Log, engine: Engine, seals: Sequence[Seal]) -> None:
    """Derive what is restored, and not in the store although its progress is past it. Raises LogError, StoreError."""
    for seal in seals:
        lane = log.lane_of(seal.begin)
        reached = {name: Position.from_int(place) for name, place in read_progress(engine).items()}
        if lane not in reached or reached[lane] < seal.end:
            continue
        if seal.state != "restored":
            logger.warning("passed the damaged range from %s to %s of the event log (%s)", *_named(seal), seal.state)
        elif _is_lacking(log, engine, seal):
            run_batch(source_of(log).batch(session, [Lane(lane, seal.begin, seal.end)]), engine, reached)
            logger.warning("derived the restored range from %s to %s of the event log", *_named(seal))


def _is_lacking(log: Log, engine: Engine, seal: Seal) -> bool:
    """Whether a record of the range has no outcome. Records before the last horizon are forgotten on purpose."""
    lane = log.lane_of(seal.begin)
    with reading(engine) as connection:
        forgotten = [one.reached.get(lane, 0) for one in read_horizons(connection)]
        low = max([seal.begin.as_int, *forgotten])
        places = {one.as_int for one in log.positions(Position.from_int(low), seal.end, _MANY)}
        return not places <= accounted(connection, low, seal.end.as_int)


def _named(seal: Seal) -> tuple[Position, Position]:
    return seal.begin, seal.end
