"""`whence run` is the command that it runs, with lineage; `whence capture flush` sends what waits."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fixtures.collectors import Collector, collecting
from whence.cli.commands.app import app

JOB = (
    "import whence_client as whence\nwith whence.run('load', inputs=['s3://b/k']): print('out')\nraise SystemExit(3)\n"
)


@pytest.fixture
def collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collecting() as made:
        monkeypatch.setenv("WHENCE_URL", made.url)
        monkeypatch.setenv("WHENCE_OUTBOX", str(tmp_path / "outbox"))
        (tmp_path / "job.py").write_text(JOB)
        yield made


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_run_works_without_an_output(tmp_path: Path, collector: Collector, closed: str) -> None:
    command = f"{sys.executable} -m whence.cli run -- {sys.executable} {tmp_path / 'job.py'} {closed}"
    assert subprocess.run(["sh", "-c", command], capture_output=True, check=False).returncode == 3


def test_run_keeps_output_and_exit_code_and_flush_sends_later(tmp_path: Path, collector: Collector) -> None:
    collector.status = 503
    whence = [sys.executable, "-m", "whence.cli"]
    command = [*whence, "run", "--job", "nightly", "--", sys.executable, str(tmp_path / "job.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert "reported" not in done.stderr
    waiting = CliRunner().invoke(app, ["capture", "flush", "--strict"])
    assert (waiting.exit_code, "still wait: status 503" in " ".join(waiting.stdout.split())) == (4, True)
    collector.status = 201
    sent = json.loads(CliRunner().invoke(app, ["capture", "flush", "--output", "json"]).stdout)["collectors"]
    assert [(one["url"], one["sent"], one["waiting"]) for one in sent] == [(collector.url, 5, 0)]
    states = {(one["job"]["name"], one["eventType"]) for one in collector.events}
    assert states == {
        ("nightly", "START"),
        ("nightly", "RUNNING"),
        ("nightly", "FAIL"),
        ("load", "START"),
        ("load", "COMPLETE"),
    }
    assert "no event waits" in CliRunner().invoke(app, ["capture", "flush"]).stdout


@pytest.mark.parametrize(
    ("status", "sentence"), [(201, "this run was reported to {url}"), (503, "the events of this run wait for {url}")]
)
def test_a_person_at_a_terminal_reads_whether_the_run_was_reported(
    tmp_path: Path, collector: Collector, status: int, sentence: str
) -> None:
    collector.status = status
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "whence.cli", "run", "--", sys.executable, str(tmp_path / "job.py")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, text=True, check=False)
    os.close(terminal)
    read = os.read(controller, 10_000).decode()
    os.close(controller)
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert f"whence: {sentence.format(url=collector.url)}" in read


def test_events_that_were_too_large_are_tried_again(tmp_path: Path, collector: Collector) -> None:
    collector.refuses_over = 10
    code = f"import sys; sys.argv = ['job']; exec(open({str(tmp_path / 'job.py')!r}).read())"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    again = CliRunner().invoke(app, ["capture", "flush", "--strict"])
    assert (again.exit_code, "2 too large for it" in again.stdout) == (4, True)
    collector.refuses_over = 1 << 20
    assert "2 events sent" in CliRunner().invoke(app, ["capture", "flush", "--strict"]).stdout


@pytest.mark.parametrize("command", ["/no/such/program", str(Path(__file__))])
def test_a_command_that_cannot_be_started(collector: Collector, command: str) -> None:
    result = CliRunner().invoke(app, ["run", "--", command])
    assert result.exit_code == 2
    assert "cannot be started" in " ".join(result.stderr.replace("│", " ").split())
