"""The ways in which Whence runs, as things to break: what can be killed in each, and who starts it again."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from chaos import processes
from chaos.load import LOOK_SECONDS
from chaos.schedule import Moment, Way
from services.kafka_broker import KafkaBroker
from services.postgres import PostgresProcess, make_database
from services.spark_cluster import CONF, ENTRY, SparkCluster, environment, submit
from services.spark_cluster import running as cluster_running
from whence.cli.process.serve import OPEN, plan, running
from whence.cli.process.supervisor import Plan
from whence.derive.spark.jars import KAFKA, fetch
from whence.log import Log
from whence.log.address import open_log
from whence.store.connection.engine import sqlite_url
from whence.store.security.database import security_url
from whence.store.security.signing import signing_secret

ENDING_SECONDS = 60
"""No process outlives a killed supervisor for so long."""


@dataclass(frozen=True, slots=True)
class Victim:
    """What can be killed: its processes as they are now, none while it is down; and how it is started again, if its
    supervisor does not do that.
    """

    pids: Callable[[], Sequence[int]]
    revive: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A running Whence."""

    data: Path
    url: str
    log_url: str
    store_url: str
    victims: Mapping[str, Victim]

    @property
    def port(self) -> int:
        """Of the API."""
        return int(self.url.rpartition(":")[2])

    @property
    def log(self) -> Log:
        """The event log."""
        return open_log(self.log_url, partial(signing_secret, security_url(self.store_url)))

    @property
    def ways(self) -> tuple[Way, ...]:
        """How events may come."""
        return tuple(Way) if self.log_url.startswith("kafka:") else (Way.POST, Way.BATCH)

    @property
    def moments(self) -> tuple[Moment, ...]:
        """When a kill may come: a transaction can be held up in PostgreSQL only."""
        return tuple(Moment) if self.store_url.startswith("postgresql") else (Moment.ANY, Moment.IDLE)


@contextmanager
def embedded(directory: Path) -> Iterator[Stack]:
    """`whence up` as it is: segments, SQLite; the driver merges what comes, Spark is idle in the pipeline's own JVM."""
    with _embedded(directory, "WHENCE_DRIVER_MIB=32") as stack:
        yield replace(stack, victims={name: one for name, one in stack.victims.items() if name != "python workers"})


@contextmanager
def embedded_spark(directory: Path) -> Iterator[Stack]:
    """The same, but everything is merged by Spark."""
    with _embedded(directory, "WHENCE_DRIVER_MIB=0") as stack:
        yield stack


@contextmanager
def _embedded(directory: Path, setting: str) -> Iterator[Stack]:
    data = directory / "data"
    store = sqlite_url(data / "store.db")
    up = plan(data, store, port=0, guard=OPEN)
    pipeline = [str(shutil.which("env")), setting, *up.children["pipeline"]]
    with _up(replace(up, children=up.children | {"pipeline": pipeline})) as (url, victims):
        yield Stack(data=data, url=url, log_url=str(data / "log"), store_url=store, victims=victims)


@contextmanager
def kafka(directory: Path) -> Iterator[Stack]:
    """`whence up` with a Kafka topic as its log, and PostgreSQL as its store."""
    with _servers(directory) as (log, store, servers):
        data = directory / "data"
        with _up(plan(data, store, log=log, port=0, guard=OPEN)) as (url, victims):
            yield Stack(data=data, url=url, log_url=log, store_url=store, victims=victims | servers)


@contextmanager
def cluster(directory: Path) -> Iterator[Stack]:
    """The same with the pipeline on a Spark cluster of two workers, by `spark-submit`."""
    with _servers(directory) as (log, store, servers), cluster_running(directory / "cluster") as spark:
        data = directory / "data"
        submitted = _submitted(plan(data, store, log=log, port=0, guard=OPEN), spark, log, store)
        with _up(submitted) as (url, victims):
            victims |= servers | _of_cluster(spark)
            yield Stack(data=data, url=url, log_url=log, store_url=store, victims=victims)


STACKS = {"embedded": embedded, "kafka": kafka, "cluster": cluster, "embedded spark": embedded_spark}


@contextmanager
def _up(what: Plan) -> Iterator[tuple[str, dict[str, Victim]]]:
    """Run a plan: its URL, and what can be killed of it, the supervisor itself as well, which is started again on the
    same port as systemd would.
    """
    data = Path(what.data)
    with ExitStack() as ending:
        url = ending.enter_context(running(what))
        again = replace(what, port=int(url.rpartition(":")[2]))

        def revive() -> None:
            _wait_until_all_have_ended(data)
            assert ending.enter_context(running(again)) == url

        yield url, _supervised(data) | {"supervisor": Victim(lambda: _known(processes.supervisor(data)), revive)}


def _wait_until_all_have_ended(data: Path) -> None:
    """The descendants of a killed supervisor end without anybody's help."""
    began = time.monotonic()
    while left := processes.marked(data):
        assert time.monotonic() - began < ENDING_SECONDS, left
        time.sleep(LOOK_SECONDS)


@contextmanager
def _servers(directory: Path) -> Iterator[tuple[str, str, dict[str, Victim]]]:
    """A broker with the address of a topic, a PostgreSQL with the URL of a database, and both as victims."""
    with ExitStack() as ending:
        broker = KafkaBroker(directory / "kafka")
        ending.callback(broker.kill)
        postgres = PostgresProcess(directory / "postgres")
        ending.callback(postgres.stop)
        victims = {
            "broker": Victim(lambda: [broker.process.pid] if broker.process else [], broker.restart),
            "postgres": Victim(lambda: postgres.pids, postgres.restart),
        }
        yield broker.start().new_topic(partitions=3, trusted="*"), make_database(postgres.start().url), victims


def _supervised(data: Path) -> dict[str, Victim]:
    """What the supervisor starts again, and what Spark does."""
    return {
        "api": Victim(lambda: _known(processes.api(data))),
        "driver": Victim(lambda: _known(processes.driver(data))),
        "jvm": Victim(lambda: _known(processes.jvm(data))),
        "python workers": Victim(lambda: _workers_of(_known(processes.jvm(data)))),
    }


def _of_cluster(cluster: SparkCluster) -> dict[str, Victim]:
    def workers() -> list[int]:
        return [one.process.pid for one in cluster.workers if one.process.poll() is None][:1]

    def executors() -> list[int]:
        return [pid for one in cluster.workers for pid in cluster.executors(one)]

    def start_worker() -> None:
        cluster.start_workers(1)

    return {
        "executor": Victim(lambda: executors()[:1]),
        "python workers": Victim(lambda: _workers_of(executors())),
        "worker": Victim(workers, start_worker),
    }


def _submitted(local: Plan, cluster: SparkCluster, log: str, store: str) -> Plan:
    conf = CONF | {"spark.jars": ",".join(map(str, fetch(KAFKA)))}
    variables = [f"{name}={value}" for name, value in environment().items() if name.startswith(("SPARK", "JAVA", "PY"))]
    command = submit(ENTRY, cluster.url, ["--log", log, "--store", store], conf)
    pipeline = [str(shutil.which("env")), *variables, *command]
    return replace(local, children=local.children | {"pipeline": pipeline})


def _workers_of(executors: Sequence[int]) -> list[int]:
    return next(filter(None, map(processes.python_workers, executors)), [])


def _known(pid: int | None) -> list[int]:
    return [] if pid is None else [pid]
