"""The blast radius as a scheduled job."""

import time

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from whence.derive.blast_radius.job import compute
from whence.derive.spark.periodic_jobs import free_cores
from whence.store.graph.blast_radius import is_current


def refresh(session: SparkSession, engine: Engine) -> bool:
    """Recompute the blast radius if the graph changed. Returns whether it did."""
    if is_current(engine):
        return False
    compute(session, engine, at=time.time_ns() // 1_000, shares=free_cores(session))
    return True
