"""What `attach` and `conf` put on a session: golden lines, and what the user set stays."""

from pathlib import Path
from uuid import UUID

import pytest
from pyspark.sql import SparkSession

from whence_client.spark import LISTENER_CLASS, Parent, attach, conf, properties_file
from whence_client.spark.installation import scala_version

GOLDEN = """\
spark.jars.packages io.openlineage:openlineage-spark_2.13:1.53.0
spark.extraListeners io.openlineage.spark.agent.OpenLineageSparkListener
spark.driver.defaultJavaOptions --add-opens=java.base/java.security=ALL-UNNAMED
spark.openlineage.namespace sales
spark.openlineage.columnLineage.datasetLineageEnabled true
spark.openlineage.filter.rddEventsDisabled true
spark.openlineage.facets.debug.disabled true
spark.openlineage.facets.spark.logicalPlan.disabled true
spark.openlineage.facets.spark_unknown.disabled true
spark.openlineage.transport.type http
spark.openlineage.transport.url http://127.0.0.1:8080
spark.openlineage.transport.endpoint /api/v1/lineage
spark.openlineage.transport.timeoutInMillis 5000
spark.openlineage.transport.compression gzip
spark.openlineage.circuitBreaker.type asyncTaskQueue
spark.openlineage.circuitBreaker.threadCount 1
spark.openlineage.circuitBreaker.queueSize 1000
spark.openlineage.circuitBreaker.blockingTimeInSeconds 0
spark.openlineage.circuitBreaker.shutdownTimeoutSeconds 10
"""

RUN = str(UUID(int=1))


def test_the_properties_file() -> None:
    assert properties_file(conf(url="http://127.0.0.1:8080/", namespace="sales")) == GOLDEN


@pytest.mark.parametrize(
    ("jars", "scala"),
    [
        (["scala-library-2.12.18.jar", "scala-reflect-2.12.18.jar"], "2.12"),  # PySpark 3.5 of PyPI
        (["scala-library-2.13.18.jar"], "2.13"),
        (["spark-core_2.12-3.5.9.jar"], "2.13"),
        ([], "2.13"),
    ],
)
def test_the_listener_is_for_the_scala_of_the_spark(tmp_path: Path, jars: list[str], scala: str) -> None:
    (tmp_path / "jars").mkdir()
    for name in jars:
        (tmp_path / "jars" / name).touch()
    assert scala_version(tmp_path) == scala


def test_the_listener_is_for_the_installed_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "scala-library-2.12.18.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    package = conf(url="http://c", namespace="sales")["spark.jars.packages"]
    assert package == "io.openlineage:openlineage-spark_2.12:1.53.0"


def test_each_option_adds_its_own_lines() -> None:
    plain = conf(url="http://c", namespace="sales")
    lines = conf(
        url="http://c", namespace="sales", api_key="secret", app_name="daily", application_run_id=RUN, rdd_events=True
    )
    assert set(lines.items()) - set(plain.items()) == {
        ("spark.openlineage.transport.auth.type", "api_key"),
        ("spark.openlineage.transport.auth.apiKey", "secret"),
        ("spark.openlineage.appName", "daily"),
        ("spark.openlineage.applicationRunId", RUN),
        ("spark.openlineage.filter.rddEventsDisabled", "false"),
    }
    scala = conf(url="http://c", namespace="sales", scala="2.12")
    assert scala["spark.jars.packages"].startswith("io.openlineage:openlineage-spark_2.12:")


def test_a_parent_without_a_root_is_the_root() -> None:
    root = Parent(namespace="airflow", job="daily", run_id=RUN)
    task = Parent(namespace="airflow", job="daily.load", run_id=str(UUID(int=2)), root=root)
    assert _parents(root) == ("daily", "daily")
    assert _parents(task) == ("daily.load", "daily")


def test_what_the_user_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests of this process may have left a session, beside which nothing is attached.
    monkeypatch.setattr("whence_client.spark.builder.running_jvm", lambda: None)
    builder = (
        SparkSession.builder.appName("mine")
        .config("spark.jars.packages", "org.example:connector:1")
        .config("spark.extraListeners", LISTENER_CLASS)
        .config("spark.driver.defaultJavaOptions", "-Xss4m")
    )
    attached = attach(
        attach(builder, url="http://c", namespace="sales", jar=True), url="http://d", namespace="sales", jar=True
    )
    options = attached._options
    assert options["spark.app.name"] == "mine"
    assert options["spark.jars.packages"] == "org.example:connector:1,io.openlineage:openlineage-spark_2.13:1.53.0"
    assert options["spark.extraListeners"] == LISTENER_CLASS
    assert options["spark.driver.defaultJavaOptions"] == "-Xss4m --add-opens=java.base/java.security=ALL-UNNAMED"
    assert options["spark.openlineage.transport.url"] == "http://d"


def _parents(parent: Parent) -> tuple[str, str]:
    lines = conf(url="http://c", namespace="sales", parent=parent)
    return lines["spark.openlineage.parentJobName"], lines["spark.openlineage.rootParentJobName"]
