"""The guides of captures that need no server print what they show, and each guide says how long it takes."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from fixtures.collectors import Collector, collecting
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from test_docs import page
from test_governance_pages import split
from test_tutorials import steps
from whence.cli.commands.app import app
from whence.store.connection.engine import sqlite_url

ROOT = Path(__file__).parents[1]
HERE_DOCUMENT = re.compile(r"^```\n(cat > .*? <<'(\w+)'\n.*?\n\2\n.*?)^```", re.MULTILINE | re.DOTALL)
AGE = re.compile(r"\d+ \w+ ago|just now")
RUN = re.compile(r"\brun [0-9a-f]{8}\b")
INPUTS = re.compile(r"^(?:printf|python -c) .*$", re.MULTILINE)
PROGRAM = re.compile(r"(?:whence run -- |run it with `)python (\w+\.py)")
ASKED = re.compile(r"^(whence upstream \S+)\n```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A question, and the answer that the guide shows."""
SERVER = re.compile(r"`python (docs/how-to/\S+\.py) 3000`")
TIMED = (
    "capture-duckdb",
    "capture-frames",
    "capture-ibis",
    "capture-kafka",
    "capture-pyarrow",
    "capture-python",
    "capture-quality",
    "capture-sklearn",
    "dbt",
    "poll-airflow",
    "poll-bigquery",
    "poll-databricks",
    "poll-kafka-connect",
    "poll-metabase",
    "poll-snowflake",
    "poll-superset",
    "poll-trino",
    "read-flink",
    "read-kubeflow",
    "read-lookml",
    "read-tableau",
    "spark",
    "sql-log",
)
"""Guides that were tried with a clock."""


@pytest.fixture
def collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector for the commands of a guide, and a directory for its files that has the checkout's `docs`."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    with collecting() as made:
        monkeypatch.setenv("OPENLINEAGE_URL", made.url)
        monkeypatch.setenv("WHENCE_OUTBOX", str(tmp_path / "outbox"))
        monkeypatch.setenv("WHENCE_DATA", str(tmp_path / "data"))
        yield made


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "data").mkdir()
    made = open_migrated(sqlite_url(tmp_path / "data" / "store.db"))
    yield made
    made.dispose()


@pytest.fixture
def servers() -> Iterator[list[subprocess.Popen[bytes]]]:
    running: list[subprocess.Popen[bytes]] = []
    yield running
    for one in running:
        with one:
            one.kill()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(script: str, port: int) -> subprocess.Popen[bytes]:
    """Start a server of a guide, and wait until it listens."""
    process = subprocess.Popen([sys.executable, script, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout
    assert process.stdout.readline() == f"listens on http://127.0.0.1:{port}\n".encode()
    return process


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("read-tableau", 1),
        ("read-lookml", 1),
        ("poll-metabase", 1),
        ("poll-snowflake", 1),
        ("poll-bigquery", 1),
        ("poll-databricks", 1),
        ("poll-trino", 1),
        ("sql-log", 1),
    ],
)
def test_a_guide_prints_what_it_shows(
    name: str,
    asked: int,
    collector: Collector,
    engine: Engine,
    servers: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, port = page(f"docs/how-to/{name}.md"), free_port()
    for document, _ in HERE_DOCUMENT.findall(text):
        subprocess.run(["sh", "-c", document], check=True)
    servers += [start(script, port) for script in SERVER.findall(text)]
    count = 0
    for command, shown in steps(text):
        if command.startswith("export "):
            monkeypatch.setenv(*command.removeprefix("export ").split("=", 1))
        elif command == "whence doctor":
            apply_bodies(engine, [msgspec.json.encode(one) for one in collector.events])
        else:
            words = split(command.replace("127.0.0.1:3000", f"127.0.0.1:{port}"))
            answer = CliRunner().invoke(app, words[1:], prog_name="whence")
            assert AGE.sub("ago", answer.stdout).strip() == AGE.sub("ago", shown).strip(), command
            count += "stream " in command
    assert count == asked


@pytest.mark.parametrize(
    "name", ["capture-frames", "capture-duckdb", "capture-pyarrow", "capture-sklearn", "capture-python", "spark"]
)
def test_a_program_of_a_guide_has_the_lineage_that_it_shows(
    name: str, collector: Collector, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page(f"docs/how-to/{name}.md")
    (program,), ((question, shown),) = set(PROGRAM.findall(text)), ASKED.findall(text)
    (tmp_path / program).write_text(text.partition("```python\n")[2].partition("```\n")[0])
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "shop")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for command in INPUTS.findall(text):
        subprocess.run(["sh", "-c", command], check=True)
    traced = [] if f"with `python {program}`" in text else ["-m", "whence_client.trace"]
    subprocess.run([sys.executable, *traced, program], check=True)
    assert collector.events
    apply_bodies(engine, [msgspec.json.encode(one) for one in collector.events])
    answer = CliRunner().invoke(app, split(question)[1:], prog_name="whence")
    assert _without_runs(answer.stdout) == _without_runs(shown)


def _without_runs(text: str) -> str:
    return RUN.sub("run", AGE.sub("ago", text)).strip()


@pytest.mark.parametrize("name", TIMED)
def test_a_guide_says_how_long_it_takes_and_how_to_see_the_result(name: str) -> None:
    text = page(f"docs/how-to/{name}.md")
    assert re.search(r"\bIt takes (?:about )?(?:a|\w+) minutes?\b", text)
    assert re.search(r"^(?:\$ )?whence (?:upstream|downstream|checks) ", text, re.MULTILINE)
    assert re.search(r"^(?:\d+-\d+-\S+  held|│ .+ · |   └─ .+ · run )", text, re.MULTILINE)
