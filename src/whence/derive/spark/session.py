"""The Spark session of the pipeline: tuned for small micro-batches on this machine; on a cluster, the cluster's own
settings take precedence.
"""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from whence.capture.java import java_home
from whence.derive.rows.sql_selection import SETTING
from whence.derive.spark.jvm import UNSUPERVISED, JvmLimits, launch_jvm
from whence.derive.spark.prepared_jvm import PreparedJvm, find_prepared
from whence.errors import SparkEndedError

_MANAGERS = "org.apache.spark.sql.execution.streaming.checkpointing"

_NEEDED = {
    "spark.hadoop.fs.permissions.umask-mode": "027",  # otherwise Hadoop lets everybody read the checkpoint
    "spark.sql.session.timeZone": "UTC",
    # The stream starts at the store's own position: its checkpoint is scratch, and need not survive.
    "spark.sql.streaming.checkpointFileManagerClass": f"{_MANAGERS}.FileSystemBasedCheckpointFileManager",
    # A micro-batch that hangs on a store that went away must not hold up the end of its stream for ever.
    "spark.sql.streaming.stopTimeout": "30s",
}
"""Settings that the pipeline requires everywhere."""

_TUNED = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.execution.arrow.maxBytesPerBatch": "33554432",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "2",
    "spark.python.daemon.module": "whence.derive.spark.daemon",
    "spark.log.level": "WARN",
}
"""Defaults that a cluster's configuration, or `spark-submit --conf`, may override."""

_ON_ONE_MACHINE = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.storage.blockManagerHeartbeatTimeoutMs": "31536000000",
}
"""The one executor is in the driver's process. Spark would give it up after two minutes without a heartbeat, as when a
laptop sleeps, and never take it again.
"""

_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn48m -Xss4m -XX:-UsePerfData"
"""What a micro-batch allocates is garbage when it ends, so the young generation stays small: the JVM would use all of a
larger one before it collects.
"""


def open_session(
    master: str | None = None,
    heap: str = "512m",
    jars: Sequence[Path] = (),
    limits: JvmLimits = UNSUPERVISED,
    jvm: PreparedJvm | None = None,
) -> SparkSession:
    """A session at `master`: the one of `spark-submit` if None, else on two cores here.

    On this machine, `heap` is the JVM's; it starts by `jvm`, else as was prepared before (`derive.prepare`). On a
    cluster both are the cluster's own business. `jars` are loaded beside Spark's own.
    Raises SparkStartError if the JVM does not start within its limits.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not is_submitted():
        os.environ["JAVA_HOME"] = str(java_home())
        master = master or "local[2]"
    owns_jvm = not is_submitted() and master is not None and master.partition("[")[0] == "local"
    if owns_jvm:
        conf = _of_one_machine(heap, jars)
        _connect(conf, limits, jvm or find_prepared())
    else:
        _connect(_with(SparkConf(loadDefaults=False), _loading(jars)), limits)
        conf = _of_cluster()
    if master:
        conf.setMaster(master)
    # Executors anywhere must read events with the settings of this process.
    conf.set(f"spark.executorEnv.{SETTING}", os.environ.get(SETTING, "on"))
    return SparkSession.builder.config(conf=_with(conf, _NEEDED)).appName("whence").getOrCreate()


def check_session(session: SparkSession) -> None:
    """Raise SparkEndedError if the JVM has ended or the session was stopped. Asks the JVM, in a millisecond."""
    try:
        has_ended = session.sparkContext._jsc.sc().isStopped()
    except (Py4JError, OSError) as error:
        raise SparkEndedError from error
    if has_ended:
        raise SparkEndedError


def close_session(session: SparkSession) -> None:
    """Stop the session and its JVM."""
    gateway = session.sparkContext._gateway
    session.stop()
    if is_submitted():
        return
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when its driver's end of stdin closes
    gateway.proc.wait()


def is_submitted() -> bool:
    """Whether `spark-submit` started this process, whose JVM then exists already."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _of_one_machine(heap: str, jars: Sequence[Path]) -> SparkConf:
    scratch = tempfile.gettempdir()
    java = f"{_JVM} {_quoted(f'-Djava.io.tmpdir={scratch}')}"
    of_run = {"spark.driver.memory": heap, "spark.driver.extraJavaOptions": java, "spark.local.dir": scratch}
    return _with(SparkConf(), {**_TUNED, **_ON_ONE_MACHINE, **of_run, **_loading(jars)})


def _quoted(option: str) -> str:
    """One of several options of a JVM in a text: Spark's launcher takes it apart as a shell does."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _connect(conf: SparkConf, limits: JvmLimits, prepared: PreparedJvm | None = None) -> None:
    """Connect to the JVM of `spark-submit`, or to a new one, unless this process is connected already."""
    if SparkContext._gateway is None:
        SparkContext._ensure_initialized(
            gateway=None if is_submitted() else launch_jvm(conf, limits, prepared), conf=conf
        )


def _of_cluster() -> SparkConf:
    conf = SparkConf()  # without a JVM it has not read spark-defaults.conf and `--conf`
    for key, value in _TUNED.items():
        conf.setIfMissing(key, value)
    return conf


def _loading(jars: Sequence[Path]) -> Mapping[str, str]:
    return {"spark.jars": ",".join(map(str, jars))} if jars else {}


def _with(conf: SparkConf, settings: Mapping[str, str]) -> SparkConf:
    return conf.setAll(list(settings.items()))
