"""The pipeline on a standalone cluster: what `spark-submit` runs there ends where it would on one machine, though an
executor is killed in the middle of a micro-batch.
"""

import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from bench.workloads.events import Noise, arrivals
from chaos.state import assert_ledger_balances, assert_state_is_the_oracles
from fixtures.both_logs import records_of
from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.waits import PATIENCE_SECONDS
from services.kafka_broker import KafkaBroker
from services.pipeline_process import derive, driving, has_all, until
from services.postgres_waits import waiting
from services.spark_cluster import CONF, ENTRY, SparkCluster, running, submit
from whence.derive.spark.jars import KAFKA, fetch
from whence.log.address import open_log
from whence.store.ingest.recompute import CHUNK
from whence.store.schema.tables import dirty_key
from whence.store.security.database import security_url
from whence.store.security.signing import signing_secret

NOISE = Noise(duplicates=0.1, late=0.1, malformed=0.05)
RECORDS = 800


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """A master and two workers of one core each."""
    with running(tmp_path_factory.mktemp("cluster")) as one:
        yield one


def bodies() -> Iterator[bytes]:
    """What fills a log of several tasks, with so many runs that the executors settle, too."""
    usual = (one.body for one in islice(arrivals(seed=7, jobs=40, days=30, noise=NOISE), RECORDS))
    return chain(usual, small_runs(CHUNK))


def small_runs(count: int) -> Iterator[bytes]:
    """Events of a run each, of 100 jobs that read one table and write another."""
    for number in range(count):
        job, minute = number % 100, number // 100
        event = {
            "eventType": "COMPLETE",
            "eventTime": f"2026-03-01T{minute // 60:02}:{minute % 60:02}:00Z",
            "producer": "https://example.org/small",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": str(UUID(int=number))},
            "job": {"namespace": "small", "name": f"job{job}"},
            "inputs": [{"namespace": "small", "name": f"in{(job + minute) % 7}"}],
            "outputs": [{"namespace": "small", "name": f"out{job}"}],
        }
        yield json.dumps(event).encode()


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Engine]:
    """An empty store on PostgreSQL."""
    engine = open_migrated(postgres_url)
    yield engine
    engine.dispose()


def test_an_executor_killed_within_a_micro_batch_changes_nothing(
    cluster: SparkCluster, kafka_broker: KafkaBroker, engine: Engine, tmp_path: Path
) -> None:
    security = security_url(engine.url.render_as_string(hide_password=False))
    log = open_log(url := kafka_broker.new_topic(partitions=3), partial(signing_secret, security))
    fill(log, bodies())
    conf = CONF | {"spark.jars": ",".join(map(str, fetch(KAFKA)))}
    with driving(submit(ENTRY, cluster.url, derive(url, engine), conf), tmp_path) as driver:
        with engine.begin() as connection:
            connection.execute(text(f"LOCK TABLE {dirty_key.name} IN EXCLUSIVE MODE"))
            # Each executor now has all that it merged in an open transaction, and cannot commit it.
            until(driver, lambda: waiting(connection) == len(cluster.workers))
            killed = cluster.executors(cluster.workers[0])
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        until(driver, lambda: has_all(engine, log))
        now = [pid for worker in cluster.workers for pid in cluster.executors(worker)]
    assert len(killed) == 1
    assert len(now) == len(cluster.workers)
    assert set(killed).isdisjoint(now)
    assert_ledger_balances(engine, records_of(log))
    assert_state_is_the_oracles(engine, records_of(log))


@pytest.mark.long
def test_a_rebuild_on_the_cluster_is_the_oracles(cluster: SparkCluster, engine: Engine, tmp_path: Path) -> None:
    log = open_log(url := str(tmp_path / "log"))
    fill(log, bodies())
    command = [sys.executable, "-m", "whence.derive", "--rebuild", "--master", cluster.url, *derive(url, engine)]
    settings = shlex.join(text for key, value in CONF.items() for text in ("--conf", f"{key}={value}"))
    with driving(command, tmp_path, PYSPARK_SUBMIT_ARGS=f"{settings} pyspark-shell") as driver:
        assert driver.wait(PATIENCE_SECONDS) == 0
    assert_ledger_balances(engine, records_of(log))
    assert_state_is_the_oracles(engine, records_of(log))
