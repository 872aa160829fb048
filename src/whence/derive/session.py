"""The Spark session of the pipeline, tuned for small micro-batches on one machine; a cluster's own settings win."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from whence.capture.java import java_home
from whence.derive.source import LogSource

_MANAGERS = "org.apache.spark.sql.execution.streaming.checkpointing"

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    # The stream starts at the store's own position: its checkpoint is scratch, and need not survive.
    "spark.sql.streaming.checkpointFileManagerClass": f"{_MANAGERS}.FileSystemBasedCheckpointFileManager",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.python.daemon.module": "whence.derive.daemon",
    "spark.python.worker.reuse": "true",
    "spark.log.level": "WARN",
}

_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m -XX:-UsePerfData"


def open_session(cache: Path, master: str = "local[2]", heap: str = "512m") -> SparkSession:
    """A session that knows the log source. `cache` holds the JVM's class archive, which halves the next start."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("whence")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.driver.memory", heap).config(
        "spark.driver.extraJavaOptions", f"{_JVM} {_class_archive(cache)}"
    )
    session = builder.getOrCreate()
    session.dataSource.register(LogSource)
    return session


def _class_archive(cache: Path) -> str:
    archive = cache / "spark.jsa"
    if archive.exists():
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
    cache.mkdir(parents=True, exist_ok=True)
    return f"-XX:ArchiveClassesAtExit={archive} -Xlog:cds=off -Xlog:cds+dynamic=off"
