"""Attaching never breaks the job: whatever stands against it is a warning, and the builder is as it was."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import whence_client
from whence_client.spark import attach, listener

SOURCE = Path(whence_client.__file__).parents[1]


@dataclass
class Builder:
    """As little of a `SparkSession.Builder` as `attach` uses."""

    _options: dict[str, str] = field(default_factory=dict)

    def config(self, key: str, value: str) -> "Builder":
        return Builder({**self._options, key: value})


class BrokenBuilder(Builder):
    def config(self, key: str, value: str) -> "Builder":
        raise RuntimeError(f"no {key} here")


@pytest.fixture(autouse=True)
def _no_spark_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("whence_client.spark.builder.running_jvm", lambda: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "SPARK_REMOTE", "SPARK_API_MODE", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cached(tmp_path: Path) -> None:
    """The listener is in the Ivy cache, as after a first session."""
    jars = tmp_path / ".ivy2.5.2" / "cache" / "io.openlineage" / "openlineage-spark_2.13" / "jars"
    jars.mkdir(parents=True)
    (jars / f"openlineage-spark_2.13-{listener.LISTENER_VERSION}.jar").touch()


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Maven Central does not answer."""
    monkeypatch.setattr(listener, "_CENTRAL", "http://127.0.0.1:9")


def attached(builder: Any, **options: Any) -> Any:
    return attach(builder, url="http://c", namespace="sales", jar=True, **options)


@pytest.mark.usefixtures("cached", "away")
def test_a_listener_in_the_cache_needs_no_network(caplog: pytest.LogCaptureFixture) -> None:
    assert attached(Builder())._options["spark.jars.packages"].endswith(":1.53.0")
    assert caplog.messages == []


@pytest.mark.usefixtures("cached", "away")
def test_the_listener_takes_from_the_environment_what_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    run = "01941f29-7c00-7abc-8def-000000000001"
    monkeypatch.setenv("WHENCE_API_KEY", "of the environment")
    monkeypatch.setenv("OPENLINEAGE_PARENT_ID", f"shop/nightly/{run}")
    options = attached(Builder())._options
    assert options["spark.openlineage.transport.url"] == "http://c"
    assert options["spark.openlineage.transport.auth.apiKey"] == "of the environment"
    assert options["spark.openlineage.parentRunId"] == run
    monkeypatch.setenv("OPENLINEAGE_URL", "http://d")
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "shop")
    builder: Any = Builder()
    options = attach(builder, jar=True)._options
    assert (options["spark.openlineage.transport.url"], options["spark.openlineage.namespace"]) == ("http://d", "shop")


@pytest.mark.usefixtures("cached", "away")
def test_the_listener_writes_a_file_and_not_the_console(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    options = attached(Builder(), events_file="/tmp/events.jsonl")._options
    assert options["spark.openlineage.transport.type"] == "file"
    assert options["spark.openlineage.transport.location"] == "/tmp/events.jsonl"
    builder: Any = Builder()
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert attach(builder, jar=True) is builder
    assert caplog.messages == []
    monkeypatch.delenv("OPENLINEAGE_DISABLED")
    monkeypatch.setenv("WHENCE_TRANSPORT", "console")
    assert attach(builder, jar=True) is builder
    assert caplog.messages == [
        "no lineage is captured: the listener sends events to a collector or into a file, and not to the console"
    ]


@pytest.mark.usefixtures("away")
def test_a_listener_that_cannot_be_fetched_would_end_spark(caplog: pytest.LogCaptureFixture) -> None:
    builder = Builder({"spark.app.name": "mine"})
    assert attached(builder) is builder
    assert caplog.messages == [
        "no lineage is captured: openlineage-spark_2.13-1.53.0.jar is not in the Ivy cache and Maven Central does not"
        " answer; put the jar into the directory jars of Spark, or say where it is with spark.jars.repositories"
    ]


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize(
    "options",
    [
        {"spark.jars.repositories": "https://maven.example.org"},
        {"spark.jars.ivySettings": "/etc/ivysettings.xml"},
        {"spark.driver.extraJavaOptions": "-Dhttps.proxyHost=proxy"},
    ],
)
def test_where_jars_come_from_elsewhere_spark_is_asked(options: dict[str, str]) -> None:
    assert "spark.jars.packages" in attached(Builder(options))._options


@pytest.mark.usefixtures("away")
def test_a_listener_among_the_jars_of_spark_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "openlineage-spark_2.13-1.53.0.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    options = attached(Builder())._options
    assert "spark.jars.packages" not in options
    assert options["spark.extraListeners"] == listener.LISTENER_CLASS


@pytest.mark.usefixtures("cached")
def test_a_builder_that_raises_is_given_back(caplog: pytest.LogCaptureFixture) -> None:
    builder = BrokenBuilder()
    assert attached(builder) is builder
    assert caplog.messages == ["no lineage is captured: no spark.jars.packages here"]


@pytest.mark.parametrize("options", [{"spark.remote": "sc://localhost"}, {"spark.api.mode": "connect"}])
def test_a_session_of_spark_connect_is_left_alone(options: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    builder = Builder(options)
    assert attached(builder) is builder
    assert "this is Spark Connect; put the listener on its server" in caplog.text


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize(
    ("version", "is_attached", "messages"),
    [
        (
            (3, 2),
            False,
            ["no lineage is captured: Spark 3.2 is older than 3.3, the oldest that the listener is tested with"],
        ),
        ((3, 3), True, []),
        ((4, 3), True, []),
        (
            (5, 0),
            True,
            ["Spark 5.0 is newer than 4.3, the newest that the listener is tested with; lineage may be incomplete"],
        ),
        (None, True, []),
    ],
)
def test_the_release_of_spark(
    version: "tuple[int, int] | None",
    is_attached: bool,
    messages: "list[str]",
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("whence_client.spark.builder.spark_version", lambda: version)
    assert ("spark.extraListeners" in attached(Builder())._options) is is_attached
    assert caplog.messages == messages


def test_nothing_but_the_standard_library_is_imported() -> None:
    """And not the parts of it that are slow: an HTTP client costs more than all else here together."""
    code = (
        "import sys, json; before = set(sys.modules); "
        "import whence_client, whence_client.outbox, whence_client.captures, whence_client.spark; "
        "print(json.dumps(sorted({one.partition('.')[0] for one in set(sys.modules) - before})))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(SOURCE)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(json.loads(done.stdout))
    assert imported - set(sys.stdlib_module_names) == {"whence_client"}
    assert not imported & {"http", "ssl", "asyncio", "pyspark"}
