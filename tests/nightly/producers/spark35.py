"""PySpark 3.5 (Scala 2.12, Java 17) with `attach`: the job never breaks, and what arrives is right."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from nightly.producers.served import Flow, Served, User
from nightly.producers.spark_user import HERE, SparkUser, spark_user

SCRIPT = str(HERE / "spark_jobs" / "attached.py")
COUNTED = "3.5.9 counted 2"


@dataclass(frozen=True, slots=True)
class Sender:
    """A Spark user, and how to send."""

    spark: SparkUser
    served: Served
    key: str

    def job(self, when: str, namespace: str, url: str = "") -> tuple[Path, subprocess.CompletedProcess[str]]:
        base = self.spark.base / f"{when}-{namespace}"
        done = self.spark.run(SCRIPT, when, str(base), url or self.served.url, self.key, namespace)
        self.served.admin.await_all()
        return base, done


@pytest.fixture(scope="module")
def sender(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Sender:
    base = tmp_path_factory.mktemp("spark35").resolve()
    key = served.user("spark35", "writer", "prod.spark35", "dev.spark35").key
    return Sender(spark_user("spark35", base), served, key)


def test_attached_before_the_first_session_all_arrives(sender: Sender) -> None:
    base, done = sender.job("before", "prod.spark35")
    assert done.stdout.splitlines()[-1:] == [COUNTED], done.stderr[-6000:]
    assert "NoSuchMethodError" not in done.stderr
    user = sender.served.admin
    flows, gaps = found(user, base, "totals")
    assert flows == frozenset(
        {
            Flow("orders.customer_id", "DIRECT IDENTITY", "totals.customer_id"),
            Flow("orders.amount", "DIRECT AGGREGATION", "totals.total"),
            Flow("orders.customer_id", "INDIRECT GROUP_BY", "totals"),
            Flow("orders.amount", "INDIRECT FILTER", "totals"),
        }
    )
    assert not gaps
    flows, gaps = found(user, base, "twice")
    assert (list(flows), gaps) == ([Flow("orders.amount", "DIRECT TRANSFORMATION", "twice.twice")], frozenset())
    flows, gaps = found(user, base, "loud")
    assert (list(flows), gaps) == ([Flow("orders.order_id", "DIRECT IDENTITY", "loud.order_id")], frozenset({"loud"}))
    jobs = user.jobs("prod.spark35")
    assert {one["latest_runs"][0]["state"] for one in jobs.values()} == {"COMPLETE"}
    assert user.troubles("prod.spark35", "failing") == {}


@pytest.mark.parametrize(
    ("when", "warning"),
    [
        ("during", "a session already runs without the listener; call attach before the first session of the process"),
        ("after", "Spark's JVM already runs without the listener; restart the process, or set spark.jars.packages"),
    ],
)
def test_attached_too_late_the_job_runs_on_and_its_user_is_told(sender: Sender, when: str, warning: str) -> None:
    base, done = sender.job(when, "dev.spark35")
    assert done.stdout.splitlines()[-1:] == [COUNTED], done.stderr[-6000:]
    assert f"no lineage is captured: {warning}" in done.stderr
    assert sender.served.admin.jobs("dev.spark35") == {}
    assert (base / "totals" / "_SUCCESS").exists()


def test_a_collector_that_is_away_does_not_break_the_job(sender: Sender) -> None:
    _, done = sender.job("before", "dev.spark35", url="http://127.0.0.1:9")
    assert done.stdout.splitlines()[-1:] == [COUNTED], done.stderr[-6000:]


def found(user: User, base: Path, name: str) -> tuple[frozenset[Flow], frozenset[str]]:
    """The flows into a dataset, and the columns of which it is said that they are not known."""
    lineage = user.lineage("file", str(base / name), lambda dataset: dataset.removeprefix(f"{base}/"))
    return lineage.flows, lineage.gaps
