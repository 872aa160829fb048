"""A real Kafka broker for tests: Apache Kafka in KRaft mode from its published jars, on loopback."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from whence.capture.java import java_home
from whence.derive.spark.jars import fetch

KAFKA = "org.apache.kafka:kafka_2.13:4.3.1"
USER, PASSWORD = "whence", 'it\'s "secret"; \\o/'

_JVM = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
_PATIENCE_SECONDS = 240

_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{plain},LOGIN://127.0.0.1:{login},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},LOGIN://127.0.0.1:{login}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
listener.name.login.sasl.enabled.mechanisms=PLAIN
listener.name.login.plain.sasl.jaas.config={jaas}
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.check.interval.ms=500
log.initial.task.delay.ms=100
"""


@dataclass(slots=True)
class KafkaBroker:
    """One broker. Its data and its ports stay the same over `stop`, `kill` and `start`."""

    directory: Path
    ports: tuple[int, int, int] = field(default_factory=lambda: _free_ports())
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def servers(self) -> str:
        """Where clients connect."""
        return f"127.0.0.1:{self.ports[0]}"

    @property
    def servers_with_login(self) -> str:
        """Where clients connect who log in, by SASL PLAIN, as USER."""
        return f"127.0.0.1:{self.ports[1]}"

    def new_topic(self, **settings: object) -> str:
        """The address of a log in a topic that is not there yet."""
        query = "&".join(f"{name}={value}" for name, value in settings.items())
        return f"kafka://{self.servers}/t{uuid4().hex}{'?' if query else ''}{query}"

    def start(self) -> "KafkaBroker":
        """Start it, and wait until it answers."""
        java = [str(java_home() / "bin" / "java"), *_JVM, "-cp", ":".join(map(str, fetch((KAFKA,), transitive=True)))]
        properties = self.directory / "server.properties"
        if not properties.exists():
            self._prepare(properties, java)
        with (self.directory / "broker.log").open("ab") as log:
            command = [*java, "kafka.Kafka", str(properties)]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0)
        self._wait()
        return self

    def stop(self) -> None:
        """End it as an operator would, and wait for that."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once (kill -9)."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Kill it, if nobody did, and start it again."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Let it hang: its connections stay open, nothing is answered. Returns when its last thread has stopped."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self) -> None:
        """Let it go on after a pause."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(_PATIENCE_SECONDS)
            self.process = None

    def _prepare(self, properties: Path, java: list[str]) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        plain, login, controller = self.ports
        user, password = f"user_{USER}", PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
        jaas = f'org.apache.kafka.common.security.plain.PlainLoginModule required {user}="{password}";'
        text = _PROPERTIES.format(
            plain=plain,
            login=login,
            controller=controller,
            data=self.directory / "data",
            jaas=jaas.replace("\\", "\\\\"),  # a file of Java properties has escapes of its own
        )
        properties.write_text(text, "utf-8")
        command = [*java, "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(properties)]
        subprocess.run(command, check=True, capture_output=True)

    def _wait(self) -> None:
        assert self.process is not None
        admin = AdminClient({"bootstrap.servers": self.servers, "reconnect.backoff.max.ms": 300, "log_level": 0})
        assert admin.list_topics(timeout=_PATIENCE_SECONDS).brokers, "the broker does not answer"
        assert self.process.poll() is None


@contextmanager
def broker_with_topics(directory: Path, topics: Sequence[str], messages: Iterable[str]) -> Iterator[str]:
    """The address of a broker that runs while the context is open. The first of its topics has these messages."""
    broker = KafkaBroker(directory)
    try:
        settings: dict[str, str | int | float | bool] = {"bootstrap.servers": broker.start().servers, "log_level": 0}
        admin, producer = AdminClient(settings), Producer(settings)
        for made in admin.create_topics([NewTopic(one, 1, 1) for one in topics]).values():
            made.result(_PATIENCE_SECONDS)
        for message in messages:
            producer.produce(topics[0], message)
        assert producer.flush(_PATIENCE_SECONDS) == 0
        yield broker.servers
    finally:
        broker.kill()


def _free_ports() -> tuple[int, int, int]:
    holders = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    plain, login, controller = (int(holder.getsockname()[1]) for holder in holders)
    for holder in holders:
        holder.close()
    return plain, login, controller
