"""Java libraries that Spark lacks, fetched from Maven Central with Spark's own Ivy.

`python -m whence.derive.spark.jars` fetches the libraries that Spark needs to read Kafka, and prints their files for
`spark-submit --jars`.
"""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import quoteattr

import platformdirs
import pyspark

from whence.capture.java import java_home
from whence.derive.spark.session import is_submitted
from whence.errors import JarsNotFoundError
from whence.log import Log
from whence.log.segments.log import SegmentLog

KAFKA = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)
"""Spark's Kafka source: the newest complete version on Maven Central, and its dependencies that Spark lacks."""

_SPARK_JARS = Path(pyspark.__file__).parent / "jars"


def jars_for(log: Log) -> tuple[Path, ...]:
    """The libraries that Spark needs to read a log: for a topic its Kafka source, unless Spark has it already. Under
    `spark-submit`, its caller decides what is loaded (`--jars`). Raises JarsNotFoundError.
    """
    if isinstance(log, SegmentLog):
        return ()
    if is_submitted() or any(_SPARK_JARS.glob("spark-sql-kafka-0-10_*.jar")):
        return ()
    return fetch(KAFKA)


def fetch(coordinates: Sequence[str], *, transitive: bool = False) -> tuple[Path, ...]:
    """The files of libraries (`group:name:version`), from the user's Ivy cache or Maven Central; with all dependencies
    if transitive. Raises JarsNotFoundError.
    """
    with tempfile.TemporaryDirectory(prefix="whence-") as scratch, _lock_cache():
        wanted, found = Path(scratch) / "ivy.xml", Path(scratch) / "found"
        wanted.write_text(_module(coordinates, transitive), "utf-8")
        (ivy,) = _SPARK_JARS.glob("ivy-*.jar")
        java = [str(java_home() / "bin" / "java"), "-XX:TieredStopAtLevel=1", "-cp", str(ivy)]
        ivy_options = ["-m2compatible", "-warn", "-ivy", str(wanted), "-cachepath", str(found)]
        command = [*java, "org.apache.ivy.Main", *ivy_options, "-types", "jar", "bundle"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        paths = found.read_text("utf-8").strip() if found.exists() else ""
        if done.returncode or not paths:
            raise JarsNotFoundError(tuple(coordinates), _read_errors(done.stderr + done.stdout))
    return tuple(map(Path, paths.split(os.pathsep)))


def _read_errors(output: str) -> str:
    """Ivy's error messages, without the frames around them."""
    lines = (line.strip(" \t:") for line in output.splitlines())
    return "; ".join(line for line in lines if line)[-1_000:]


def _module(coordinates: Sequence[str], transitive: bool) -> str:
    flag = str(transitive).lower()
    needed = "runtime(default),master(default)" if transitive else "master"
    lines = []
    for one in coordinates:
        group, name, version = map(quoteattr, one.split(":"))
        lines.append(
            f'<dependency org={group} name={name} rev={version} transitive="{flag}" conf="default->{needed}"/>'
        )
    return (
        '<ivy-module version="2.0"><info organisation="whence" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(lines)}</dependencies></ivy-module>"
    )


@contextmanager
def _lock_cache() -> Iterator[None]:
    """Hold a lock on Ivy's cache, which is not safe for two processes at a time."""
    cache = platformdirs.user_cache_path("whence", appauthor=False)
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "ivy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.stdout.write(",".join(map(str, fetch(KAFKA))) + "\n")
