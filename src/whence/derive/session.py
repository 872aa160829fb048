"""The Spark session of the pipeline, tuned for small micro-batches on one machine; a cluster's own settings win."""

import os
import sys
import tempfile
from collections.abc import Sequence
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


def open_session(
    cache: Path | None = None, master: str = "local[2]", heap: str = "512m", jars: Sequence[Path] = ()
) -> SparkSession:
    """A session that knows the log source. `cache` is where the JVM's class archive is kept, which halves the next
    start; without it there is none. `jars` are loaded beside Spark's own.
    """
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    scratch = tempfile.gettempdir()
    java = " ".join([_JVM, f"-Djava.io.tmpdir={scratch}", *([_class_archive(cache)] if cache else [])])
    of_run = {"spark.driver.extraJavaOptions": java, "spark.local.dir": scratch}
    if jars:
        of_run["spark.jars"] = ",".join(map(str, jars))
    builder = SparkSession.builder.master(master).appName("whence").config("spark.driver.memory", heap)
    for key, value in {**_SETTINGS, **of_run}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.dataSource.register(LogSource)
    return session


def close_session(session: SparkSession, cache: Path) -> None:
    """Stop the session and its JVM, and keep the class archive that the JVM wrote at its end, if it wrote one."""
    gateway = session.sparkContext._gateway
    session.stop()
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM takes it for the end of its driver
    gateway.proc.wait()
    if gateway.proc.returncode == 0 and _fresh(cache).exists():
        _fresh(cache).replace(_kept(cache))


def _class_archive(cache: Path) -> str:
    if _kept(cache).exists():
        return f"-XX:SharedArchiveFile={_kept(cache)} -Xshare:auto {_QUIET}"
    cache.mkdir(parents=True, exist_ok=True)
    return f"-XX:ArchiveClassesAtExit={_fresh(cache)} {_QUIET}"


_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def _kept(cache: Path) -> Path:
    return cache / "classes.jsa"


def _fresh(cache: Path) -> Path:
    """Written by a JVM while it ends: half an archive, if it is killed then."""
    return cache / "classes.jsa.new"
