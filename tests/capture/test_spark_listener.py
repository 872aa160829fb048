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
from whence.capture.spark import attach

url, path = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").appName("job").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m")
builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
spark = attach(builder, url=url, namespace="test").getOrCreate()
spark.range(3).selectExpr("id + 1 AS next").write.parquet(path)
total = spark.read.parquet(path).selectExpr("sum(next)").first()[0]
listeners = spark.sparkContext._jsc.sc().listenerBus().listeners().toString()
spark.stop()
print(total, "OpenLineageSparkListener" in listeners)
"""


def test_a_job_survives_a_collector_that_is_down(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", JOB, f"http://127.0.0.1:{_closed_port()}", str(tmp_path / "out")],
        env=os.environ
        | {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}
        | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["6", "True"], done.stderr[-4000:]


def _closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])
