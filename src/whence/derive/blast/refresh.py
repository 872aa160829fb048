"""The blast radius as a scheduled job."""

import time

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.blast.job import compute
from whence.derive.schedule import free_cores
from whence.store.blast import is_current


def refresh(session: SparkSession, engine: Engine) -> bool:
    """Compute it anew if events came since. Gives whether there were any."""
    if is_current(engine):
        return False
    compute(session, engine, at=time.time_ns() // 1_000, shares=free_cores(session))
    return True
