"""A real Kafka Connect: one distributed worker from its published jars, on loopback, beside a real broker."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from confluent_kafka.admin import AdminClient, NewTopic

from services.kafka_broker import KAFKA, KafkaBroker
from whence.capture.java import java_home
from whence.derive.spark.jars import fetch

RELEASE = "4.3.1"
JARS = (
    KAFKA,
    f"org.apache.kafka:connect-runtime:{RELEASE}",
    f"org.apache.kafka:connect-file:{RELEASE}",
    "org.slf4j:slf4j-simple:1.7.36",  # without it a worker that fails says nothing
)
SECRET = "hush-4711"
_JVM = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_PATIENCE_SECONDS = 240
_TURN_SECONDS = 0.3
_STORES = ("config", "offset", "status")
_FILE = "org.apache.kafka.connect.file.FileStream"
_ROUTER = {
    "transforms": "route",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": "(.*)",
    "transforms.route.replacement": "$1-v1",
}

Json = dict[str, Any]


@dataclass(frozen=True)
class Worker:
    """A running worker, the servers of its Kafka, and the folder of the files that its connectors read and write."""

    url: str
    servers: str
    lake: Path

    def ask(self, method: str, path: str, **sent: Any) -> Any:
        """The answer of the API; a worker that is busy with another request is asked again."""
        reply = httpx.request(method, f"{self.url}/{path}", timeout=60, **sent)
        while reply.status_code == httpx.codes.CONFLICT:
            time.sleep(_TURN_SECONDS)
            reply = httpx.request(method, f"{self.url}/{path}", timeout=60, **sent)
        assert reply.is_success, f"{path}: {reply.status_code} {reply.text}"
        return reply.json() if reply.content else {}

    def configure(self, name: str, **settings: str) -> None:
        """Start a connector, or change it."""
        config = {one.replace("_", "."): value for one, value in settings.items()}
        self.ask("PUT", f"connectors/{quote(name, safe='')}/config", json={"tasks.max": "1", **config})

    def await_state(self, name: str, state: str) -> None:
        """Wait until the task of a connector is in a state."""

        def states() -> list[str]:
            return [one["state"] for one in self.ask("GET", f"connectors/{quote(name, safe='')}/status")["tasks"]]

        _await(lambda: states() == [state], f"{name} is not {state}")

    def await_topic(self, name: str, topic: str) -> None:
        """Wait until a connector has used a topic."""
        path = f"connectors/{quote(name, safe='')}/topics"
        _await(lambda: topic in self.ask("GET", path)[name]["topics"], f"{name} did not use {topic}")


def run_connectors(worker: Worker) -> None:
    """Files of prod and staging into topics and out of them; one connector fails, and one has nothing to do."""
    for stage in ("prod", "staging"):
        (worker.lake / f"{stage} ü.txt").write_text("1,10\n2,20\n")
        out = str(worker.lake / f"{stage}-out; drop 1.txt")
        start = {"connector_class": f"{_FILE}SourceConnector", "file": str(worker.lake / f"{stage} ü.txt")}
        worker.configure(f"{stage}.orders ü in", **start, topic=f"{stage}.orders", **_ROUTER)
        sink = {"connector_class": f"{_FILE}SinkConnector"}
        worker.configure(f"{stage}.orders out", **sink, file=out, topics_regex=f"{stage}\\..*")
    worker.configure("dev.idle", **sink, file=str(worker.lake / "idle.txt"), topics="dev.never")
    password = {"database_password": SECRET}
    worker.configure(
        "dev.broken", **sink, file=f"/no/such/folder?password={SECRET}", topics="prod.orders-v1", **password
    )
    for stage in ("prod", "staging"):
        worker.await_topic(f"{stage}.orders ü in", f"{stage}.orders-v1")
        worker.await_topic(f"{stage}.orders out", f"{stage}.orders-v1")
    worker.await_state("dev.broken", "FAILED")
    worker.await_state("dev.idle", "RUNNING")


@contextmanager
def connect(folder: Path) -> Iterator[Worker]:
    """Run a broker and a worker while the context is open."""
    broker = KafkaBroker(folder / "broker").start()
    try:
        _make_topics(broker.servers)
        with _running(folder, broker.servers) as worker:
            yield worker
    finally:
        broker.stop()


@contextmanager
def _running(folder: Path, servers: str) -> Iterator[Worker]:
    jars = fetch(JARS, transitive=True)
    plugins, lake = folder / "plugins/file", folder / "lake"
    for made in (plugins, lake):
        made.mkdir(parents=True)
    for jar in (one for one in jars if one.name.startswith("connect-file")):
        shutil.copy(jar, plugins)
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    properties = folder / "worker.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in _properties(url, servers, plugins.parent)))
    path = ":".join(str(one) for one in jars if not one.name.startswith("connect-file"))
    java = [str(java_home() / "bin/java"), *_JVM, "-cp", path]
    command = [*java, "org.apache.kafka.connect.cli.ConnectDistributed", str(properties)]
    with (folder / "worker.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _await(lambda: process.poll() is not None or _answers(url), "the worker does not answer")
            assert process.poll() is None, (folder / "worker.log").read_text()[-4000:]
            yield Worker(url, servers, lake)
        finally:
            process.kill()


def _properties(url: str, servers: str, plugins: Path) -> Iterator[tuple[str, str]]:
    yield from (("bootstrap.servers", servers), ("group.id", "shop"), ("listeners", url))
    for one in _STORES:
        yield f"{one}.storage.topic", f"connect-{one}"
        yield f"{one}.storage.replication.factor", "1"
    for one in ("key", "value"):
        yield f"{one}.converter", "org.apache.kafka.connect.storage.StringConverter"
    yield from (("plugin.path", str(plugins)), ("plugin.discovery", "service_load"))
    yield from (("offset.storage.partitions", "1"), ("status.storage.partitions", "1"))


def _make_topics(servers: str) -> None:
    names = ("prod.orders-v1", "staging.orders-v1", "dev.never")
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics([NewTopic(one, 1, 1) for one in names]).values():
        made.result()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/connectors", timeout=10).is_success
    except httpx.HTTPError:
        return False


def _await(is_so: Any, otherwise: str) -> None:
    limit = time.monotonic() + _PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < limit, otherwise
        time.sleep(_TURN_SECONDS)
