"""A standalone Spark cluster on loopback, from the PyPI package: a master and its workers as processes of their own,
which can be killed one by one.
"""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from chaos.processes import children, command
from whence.capture.java import java_home

HOME = Path(pyspark.__file__).parent
STARTED = re.compile(r"(?<=Starting Spark master at )spark://\S+")
REGISTERED = re.compile(r"Successfully registered with master")
PATIENCE_SECONDS = 300
STOP_SECONDS = 10

SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
"""For JVMs that share few cores and do not live long."""

ENTRY = Path(__file__).parents[2] / "deploy" / "derive.py"
"""What `spark-submit` is given to run the pipeline."""

CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": SMALL,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SMALL,
    "spark.ui.enabled": "false",
}
"""Of a pipeline on such a cluster."""


def environment() -> dict[str, str]:
    """What every process of the cluster is started with, the driver included."""
    spark = {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": str(java_home())}
    return {**os.environ, **spark, "PYSPARK_PYTHON": sys.executable}


def submit(script: Path, master: str, arguments: Sequence[str], conf: Mapping[str, str]) -> list[str]:
    """The `spark-submit` command that runs a script on a cluster."""
    settings = [text for key, value in conf.items() for text in ("--conf", f"{key}={value}")]
    return [str(HOME / "bin" / "spark-submit"), "--master", master, *settings, str(script), *arguments]


class Node:
    """A master or worker process. Its log is read until the line that says it is ready, and kept in a file."""

    def __init__(self, name: str, options: Sequence[str], place: Path, ready: re.Pattern[str]) -> None:
        place.mkdir(parents=True, exist_ok=True)
        small = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": SMALL, "SPARK_LOCAL_DIRS": str(place)}
        self.process = subprocess.Popen(
            [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options],
            env=environment() | small,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=place,
        )
        self._log, self._ready, self._address = place / "log", ready, ""
        self._is_decided = threading.Event()
        threading.Thread(target=self._follow, name=f"log of {name}", daemon=True).start()

    def wait_until_ready(self) -> str:
        """What the line that says so says. Raises RuntimeError with the log's end if it does not come."""
        if not self._is_decided.wait(PATIENCE_SECONDS) or not self._address:
            self.kill()
            raise RuntimeError(f"a Spark node did not start: {self._log.read_text()[-2_000:]}")
        return self._address

    def stop(self) -> None:
        """SIGTERM, and wait: a worker ends its executors first."""
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """`kill -9`, and wait until it is dead."""
        self.process.kill()
        self.process.wait()

    def _follow(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines, self._log.open("a") as kept:
            for line in lines:
                kept.write(line)
                kept.flush()
                if not self._address and (found := self._ready.search(line)):
                    self._address = found[0]
                    self._is_decided.set()
        self._is_decided.set()


@dataclass(slots=True)
class SparkCluster:
    """A running cluster. `url` is its master's, the first of the nodes; the executors of a worker end with it."""

    directory: Path
    url: str
    nodes: list[Node]

    @property
    def workers(self) -> list[Node]:
        """The workers, dead ones too."""
        return self.nodes[1:]

    def start_workers(self, count: int) -> list[Node]:
        """So many more workers with one core each, once the master knows them."""
        nodes = [self._worker(len(self.nodes) + number) for number in range(count)]
        self.nodes += nodes
        for node in nodes:
            node.wait_until_ready()
        return nodes

    def _worker(self, number: int) -> Node:
        place = self.directory / f"worker{number}"
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--work-dir", str(place)]
        return Node("worker.Worker", [*options, "--webui-port", "0", self.url], place, REGISTERED)

    def executors(self, worker: Node) -> list[int]:
        """The executors (of any application) that run at a worker now, by process id."""
        return [pid for pid in children(worker.process.pid) if "CoarseGrainedExecutorBackend" in command(pid)]


@contextmanager
def running(directory: Path, workers: int = 2) -> Iterator[SparkCluster]:
    """A cluster while the context is open; its logs are in the directory."""
    options = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    nodes = [Node("master.Master", options, directory / "master", STARTED)]
    try:
        cluster = SparkCluster(directory, nodes[0].wait_until_ready(), nodes)
        cluster.start_workers(workers)
        yield cluster
    finally:
        for node in reversed(nodes):
            node.stop()
