"""The ways in which Whence runs, as things to break: what can be killed in each, and who starts it again."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from chaos import processes
from chaos.schedule import Moment, Way
from kafka_broker import KafkaBroker
from postgres_process import PostgresProcess, make_database
from spark_cluster import CONF, ENTRY, SparkCluster, environment, submit
from spark_cluster import running as cluster_running
from whence.cli.serve import OPEN, plan, running
from whence.cli.supervise import Plan
from whence.derive.jars import KAFKA, fetch
from whence.log import Log
from whence.log.address import open_log
from whence.store.engine import sqlite_url
from whence.store.security.database import security_url
from whence.store.security.signing import signing_secret


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
    """`whence up` as it is: segments, SQLite, Spark in the pipeline's own JVM."""
    data = directory / "data"
    store = sqlite_url(data / "store.db")
    with running(plan(data, store, port=0, guard=OPEN)) as url:
        yield Stack(data=data, url=url, log_url=str(data / "log"), store_url=store, victims=_supervised(data))


@contextmanager
def kafka(directory: Path) -> Iterator[Stack]:
    """`whence up` with a Kafka topic as its log, and PostgreSQL as its store."""
    with _servers(directory) as (log, store, servers):
        data = directory / "data"
        with running(plan(data, store, log=log, port=0, guard=OPEN)) as url:
            yield Stack(data=data, url=url, log_url=log, store_url=store, victims=_supervised(data) | servers)


@contextmanager
def cluster(directory: Path) -> Iterator[Stack]:
    """The same with the pipeline on a Spark cluster of two workers, by `spark-submit`."""
    with _servers(directory) as (log, store, servers), cluster_running(directory / "cluster") as spark:
        data = directory / "data"
        with running(_submitted(plan(data, store, log=log, port=0, guard=OPEN), spark, log, store)) as url:
            victims = _supervised(data) | servers | _of_cluster(spark)
            yield Stack(data=data, url=url, log_url=log, store_url=store, victims=victims)


STACKS = {"embedded": embedded, "kafka": kafka, "cluster": cluster}


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
