"""Jobs run as users run them (`whence run -- python job.py`), and files captured so (`whence capture dbt target`), with
a collector in any condition.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from capture.conformance.cases import ORDERS, Case
from capture.conformance.wide_jobs import WIDE
from environments import environment
from fixtures.captured_lineage import column_edges, store_events, topic_edges
from fixtures.collectors import Collector, collecting
from services.kafka_broker import broker_with_topics
from whence.capture.java import java_home
from whence_client.outbox.flush import flush_outbox
from whence_client.process.settings import Settings

ROOT = Path(__file__).parents[3]
RUN = "import sys; from whence_client.runs.command import run_command; sys.exit(run_command(sys.argv[1:]))"
WHENCE = "from whence.cli.commands.app import main; main()"
_SECONDS = 240

_MODEL = re.compile(r"\bm-[0-9a-f]{32}\b")
"""MLflow's name of a model, another one in each run."""

Event = dict[str, Any]
Name = tuple[str, str]


class Condition(Enum):
    """How a collector is while a job runs."""

    WELL = "well"
    OVERLOADED = "overloaded"
    """It answers 503."""
    HANGING = "hanging"
    """It does not answer."""
    SLOW = "slow"
    """It answers after five seconds, later than a job waits for it."""
    AWAY = "away"
    """Nothing listens at its address."""
    SMALL = "small"
    """It answers 413 to every event that has lineage."""

    def apply(self, collector: Collector) -> None:
        """Let a collector be so."""
        collector.status = {Condition.OVERLOADED: 503, Condition.HANGING: 0}.get(self, 201)
        collector.seconds = 5.0 if self is Condition.SLOW else 0.0
        collector.refuses_over = 1_000 if self is Condition.SMALL else 1 << 40


@dataclass(frozen=True)
class Ran:
    """What a job left: its exit code and output, the events that arrived while it ran, and all after a flush.

    `read` and `written` are the namespaces and names that everybody gives to what it reads and writes.
    """

    read: Name
    written: Name
    code: int
    output: str
    errors: str
    at_once: tuple[Event, ...]
    events: tuple[Event, ...]
    bytes_sent: bytes

    def outer(self) -> list[Event]:
        """The events of the run around the job, in their order: each process sends its own."""
        return _outer(self.events)

    def outer_at_once(self) -> list[Event]:
        """Those of them that arrived while the job ran."""
        return _outer(self.at_once)


def _outer(events: Iterable[Event]) -> list[Event]:
    own = (one for one in events if one["job"]["name"] == "job")
    return sorted(own, key=lambda one: str(one["eventTime"]))


def run_job(case: Case, mode: str, condition: Condition, folder: Path) -> Ran:
    """Run the job of a case, then send what waits in the outbox to a collector that is well."""
    _prepare(case, folder)
    with collecting(is_away=condition is Condition.AWAY) as collector, _broker_of(case, folder) as servers:
        condition.apply(collector)
        settings = {**_environment(collector.url, folder), "KAFKA_SERVERS": servers}
        done = _run([python_of(case), "-c", RUN, python_of(case), "job.py", mode], settings, folder)
        at_once = tuple(collector.events)
        if condition is Condition.AWAY:
            collector.listen()
        Condition.WELL.apply(collector)
        collector.released.set()
        problems = [one.problem for one in flush_outbox(Settings(url=collector.url, outbox=str(folder / "outbox")))]
        assert not any(problems), problems
        sent = b"\n".join(collector.bodies)
        read, written = _names_of(case, folder, servers)
        return Ran(read, written, done.returncode, done.stdout, done.stderr, at_once, tuple(collector.events), sent)


def run_alone(case: Case, mode: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the job of a case without Whence; what it calls of Whence itself does nothing."""
    _prepare(case, folder)
    with _broker_of(case, folder) as servers:
        settings = {**_environment("", folder), "WHENCE_TRANSPORT": "off", "KAFKA_SERVERS": servers}
        return _run([python_of(case), "job.py", mode], settings, folder)


def _prepare(case: Case, folder: Path) -> None:
    folder.mkdir()
    (folder / "orders.csv").write_text(ORDERS)
    (folder / "wide.csv").write_text(WIDE)
    (folder / "job.py").write_text(case.script)


def _run(command: list[str], settings: dict[str, str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        env={**os.environ, **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )


def _broker_of(case: Case, folder: Path) -> AbstractContextManager[str]:
    """The address of a broker whose first topic has the orders; empty for a case without topics."""
    orders = ORDERS.splitlines()
    return broker_with_topics(folder / "kafka", case.topics, orders) if case.topics else nullcontext("")


def _names_of(case: Case, folder: Path, servers: str) -> tuple[Name, Name]:
    """What the job of a case reads and writes."""
    if case.topics:
        read, written = case.topics
        return (f"kafka://{servers}", read), (f"kafka://{servers}", written)
    return ("file", str(folder / "orders.csv")), ("file", str(folder / "out.csv"))


def python_of(case: Case) -> str:
    """The Python that runs a case, of an environment of its own if the case has one."""
    if not case.environment:
        return sys.executable
    lock = ROOT / "tests/nightly" / case.environment
    return str(environment(lock.stem, lock) / "bin/python")


def release_of(case: Case) -> str:
    """The release of the system that a case runs."""
    if not case.package:
        return f"Python {sys.version.split()[0]}"
    ask = f"import importlib.metadata; print(importlib.metadata.version({case.package!r}))"
    done = subprocess.run([python_of(case), "-c", ask], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def facts_of(events: Iterable[Event], engine: Engine) -> set[str]:
    """The DIRECT column lineage of events in a store, that between topics, and the checks that they report."""
    kept = list(events)
    lines = store_events(engine, kept)
    edges = {_MODEL.sub("model", one) for one in column_edges(lines)} | topic_edges(lines)
    return edges | {one for event in kept for one in _checks_of(event)}


def _checks_of(event: Event) -> Iterator[str]:
    for dataset in event.get("inputs", ()):
        name = Path(dataset["name"]).name
        short = name.rpartition(".")[0] if "/" in dataset["name"] else name.rpartition(".")[2]
        for one in dataset.get("inputFacets", {}).get("dataQualityAssertions", {}).get("assertions", ()):
            column = f".{one['column']}" if one.get("column") else ""
            result = "held" if one["success"] else "violated"
            yield f"{short}{column} {one['assertion']}, {one['severity']}: {result}"


def _environment(url: str, folder: Path) -> dict[str, str]:
    paths = (str(_entry_points(folder)), str(ROOT / "client/src"), *filter(None, [os.environ.get("PYTHONPATH")]))
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "WHENCE_URL": url,
        "WHENCE_OUTBOX": str(folder / "outbox"),
        "WHENCE_NAMESPACE": "prod",
        "WHENCE_EXIT_SECONDS": "2",
        "JAVA_HOME": str(java_home() or ""),
        "GX_ANALYTICS_ENABLED": "false",
        "SODA_CORE_TELEMETRY_ENABLED": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }


def registered_captures() -> dict[str, str]:
    """The captures that whence-client registers, by the module that they wait for."""
    project = tomllib.loads((ROOT / "client/pyproject.toml").read_text())
    found: dict[str, str] = project["project"]["entry-points"]["whence.captures"]
    return found


def _entry_points(folder: Path) -> Path:
    """The registered captures, for a Python where another state of whence-client is installed."""
    place = folder / "registered" / "conformance-0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: conformance\nVersion: 0\n")
    lines = [f"{name} = {value}\n" for name, value in registered_captures().items()]
    (place / "entry_points.txt").write_text("[whence.captures]\n" + "".join(lines))
    return place.parent


@dataclass(frozen=True)
class Files:
    """The files of a case, and the words of the command that captures them."""

    folder: Path
    words: tuple[str, ...]

    @contextmanager
    def capture(self, collector: Collector, *words: str) -> Iterator[subprocess.Popen[str]]:
        """`whence capture` of the files, or with other words, as a process."""
        settings = {
            "WHENCE_URL": collector.url,
            "WHENCE_OUTBOX": str(self.folder / "outbox"),
            # Each collector has its own cursor: none of them gets only what is new since another one.
            "WHENCE_DATA": str(self.folder / f"data-{collector.url.rpartition(':')[2]}"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "OPENLINEAGE_NAMESPACE": "prod",
        }
        command = [sys.executable, "-c", WHENCE, "capture", *(words or self.words)]
        with subprocess.Popen(
            command,
            env={**os.environ, **settings},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield process

    def captured(self, collector: Collector, *words: str) -> str:
        """What the command prints; it must succeed."""
        with self.capture(collector, *words) as process:
            output, errors = process.communicate(timeout=_SECONDS)
        assert process.returncode == 0, output + errors
        assert "Traceback" not in errors
        return output
