"""`whence blast`: computes the blast radius of every node."""

import time

from whence.derive.blast_radius.job import Computed, compute
from whence.derive.spark.session import open_session
from whence.store.connection.engine import open_store
from whence.store.migrations.migrate import migrate


def count_now(store_url: str) -> Computed:
    """Compute with all cores of this machine, in a separate Spark session. Raises StoreBusyError."""
    engine = open_store(store_url)
    migrate(engine)
    session = open_session()
    try:
        return compute(session, engine, time.time_ns() // 1_000, session.sparkContext.defaultParallelism)
    finally:
        session.stop()
        engine.dispose()
