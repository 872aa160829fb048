"""`whence rebuild`: the whole log through the same stages as one batch, into a new store that takes the old one's
place.
"""

from pyspark.sql import SparkSession

from whence.derive.pipeline import run_batch
from whence.log import Log
from whence.store.replace import replacing


def rebuild(session: SparkSession, log: Log, store_url: str) -> None:
    """Build a new store beside the old one and swap it in. Readers see the old one until then. Raises StoreBusyError
    while a pipeline runs.
    """
    with replacing(store_url) as engine:
        run_batch(session, log, engine)
