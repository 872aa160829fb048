"""A job whose collector is down runs as if there were none."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from whence.capture.java import java_home

JOB = """
import sys
from pyspark.sql import SparkSession
from whence_client.spark import attach

url, path = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").appName("job").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m")
builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
spark = attach(builder, url=url, namespace="test", jar=True).getOrCreate()
spark.range(3).selectExpr("id + 1 AS next").write.parquet(path)
total = spark.read.parquet(path).selectExpr("sum(next)").first()[0]
listeners = spark.sparkContext._jsc.sc().listenerBus().listeners().toString()
spark.stop()
print(total, "OpenLineageSparkListener" in listeners)
"""

LATE = """
import sys
from pyspark.sql import SparkSession
from whence_client.spark import attach

def builder():
    made = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    made = made.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    return made.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m")

first = builder().getOrCreate()
same = attach(builder(), url=sys.argv[1], namespace="prod", jar=True).getOrCreate()
print(same.range(3).count(), same is first, same.conf.get("spark.extraListeners", "none"))
first.stop()
again = attach(builder(), url=sys.argv[1], namespace="prod", jar=True).getOrCreate()
print(again.range(4).count(), again.conf.get("spark.extraListeners", "none"))
again.stop()
"""


def test_a_notebook_that_attaches_too_late_runs_on_and_is_told() -> None:
    """Finding F3: a running session was changed in name only; after `stop()`, the next one could not start."""
    done = _run(LATE, f"http://127.0.0.1:{_closed_port()}")
    assert done.stdout.splitlines() == ["3 True none", "4 none"], done.stderr[-4000:]
    assert "no lineage is captured: a session already runs without the listener" in done.stderr
    assert "no lineage is captured: Spark's JVM already runs without the listener; restart the process" in done.stderr


def test_a_job_survives_a_collector_that_is_down(tmp_path: Path) -> None:
    done = _run(JOB, f"http://127.0.0.1:{_closed_port()}", str(tmp_path / "out"))
    assert done.stdout.split() == ["6", "True"], done.stderr[-4000:]


def _run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ
        | {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}
        | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])
