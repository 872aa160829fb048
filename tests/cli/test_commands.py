"""The command as a process: exit codes, what is on stdout and what on stderr, JSON, and how fast help comes."""

import json
import os
import signal
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply_bodies
from oracle.stories import dataset, run
from query.worlds.churn_story import NOW, WORLD, column
from query.worlds.random_worlds import POSITION, load
from whence import __version__
from whence.cli.output.streams import Exit
from whence.store.connection.engine import sqlite_url

COMMANDS = ("upstream", "downstream", "path", "search", "up", "demo", "ingest", "doctor", "rebuild", "dump", "version")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("data")
    engine = open_migrated(sqlite_url(directory / "store.db"))
    load(engine, WORLD)
    engine.dispose()
    return directory


def whence(*arguments: str, data: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "TERM": "dumb"} | environment
    env |= {"WHENCE_DATA": str(data)} if data else {}
    command = [sys.executable, "-m", "whence.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=env, check=False, timeout=120)


def test_an_answer_is_on_stdout(data: Path) -> None:
    done = whence("upstream", "predictions.churn_probability", data=data)
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert "└─ customers.email  ← sha2(email, 256)  TRANSFORMATION masked\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_json_is_one_document(data: Path) -> None:
    done = whence("downstream", "usage_logs", "--data", str(data), "--output", "json", "--as-of", str(NOW))
    answer = json.loads(done.stdout)
    assert done.returncode == Exit.OK
    assert (answer["root"], answer["direction"], answer["grain"]) == (
        "dataset:file:/lake/raw/usage_logs.csv",
        "downstream",
        "dataset",
    )
    assert (answer["complete"], answer["as_of"], answer["graph_version"]) == (
        True,
        "2026-11-18T11:06:40Z",
        f"0:{POSITION}",
    )
    assert answer["nodes"][-1]["node"] == "job:churn:report"
    assert all(edge["evidence"] for edge in answer["edges"])


def test_paths_and_search_as_json(data: Path) -> None:
    found = json.loads(whence("path", "customers.email", "model", "-o", "json", data=data).stdout)
    assert [len(path["steps"]) for path in found["paths"]] == [2]
    named = json.loads(whence("search", "churn", "-o", "json", data=data).stdout)
    assert named["nodes"] == [
        {
            "node": str(column("predictions", "churn_probability")),
            "kind": "field",
            "by": "name",
            "labels": [],
            "standings": [],
        }
    ]
    jobs = json.loads(whence("search", "churn", "--kind", "job", "-o", "json", data=data).stdout)
    assert (jobs["nodes"], jobs["complete"]) == ([], True)


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (
            ("upstream", "predictions.churn"),
            Exit.MISTAKE,
            "did you mean:\n  datasetField:file:/lake/predictions:churn_probability\n",
        ),
        (("upstream", "minutes\x1b[2J"), Exit.MISTAKE, r"\x1b[2J"),
        (("upstream",), Exit.USAGE, "Missing argument"),
        (("upstream", "model", "--as-of", "soon"), Exit.USAGE, "is not a time"),
        (("upstream", "model", "--as-of", "9999-01-01"), Exit.USAGE, "is in the future"),
        (("diff", "1d ago", "9999-01-01"), Exit.USAGE, "is in the future"),
        (("upstream", "model", "--output", "yaml"), Exit.USAGE, "choose text, json or csv, not 'yaml'"),
        (("dump", "--output", "yaml"), Exit.USAGE, "No such option"),
        (("upstream", ""), Exit.USAGE, "it is empty"),
        (("search", " "), Exit.USAGE, "it is empty"),
        (("runs", "latest"), Exit.MISTAKE, "no dataset, column, job or run is named 'latest'"),
        (("sql", ""), Exit.USAGE, "the SQL is empty"),
        (("doctor", "--url", "http://host.invalid:1"), Exit.OUT_OF_SERVICE, "the name of the host cannot be resolved"),
        (("upstream", "model", "--types", "some"), Exit.USAGE, "choose direct, indirect or both"),
        (("upstream", "model", "--depth", "-1"), Exit.USAGE, "--depth"),
        (("nonsense",), Exit.USAGE, "No such command"),
        (
            ("upstream", "model", "--store", "sqlite:///nowhere/store.db"),
            Exit.OUT_OF_SERVICE,
            "no store at nowhere/store.db",
        ),
        (("upstream", "model", "--store", "postgresql://127.0.0.1:1/none"), Exit.OUT_OF_SERVICE, "cannot be read"),
        (("upstream", "model", "--store", "no url"), Exit.OUT_OF_SERVICE, "cannot be read"),
    ],
)
def test_what_goes_wrong_is_on_stderr(data: Path, arguments: tuple[str, ...], code: Exit, expected: str) -> None:
    done = whence(*arguments, data=data)
    assert (done.returncode, done.stdout) == (code, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


def test_nothing_was_recorded_before_the_first_event(data: Path) -> None:
    done = whence("upstream", "predictions.churn_probability", "--as-of", "2020-01-01", data=data)
    assert done.returncode == Exit.CUT
    assert "Complete" not in done.stdout
    assert "Not known: the first event is of 2026-11-1" in done.stdout
    answer = json.loads(whence("impact", "usage_logs", "--as-of", "2020-01-01", "-o", "json", data=data).stdout)
    assert (answer["complete"], answer["stopped_by"]) == (False, "beginning")
    assert answer["recorded_from"].startswith("2026-11-1")
    apart = json.loads(whence("diff", "2020-01-01", "now", "-o", "json", data=data).stdout)
    assert apart["complete"]


def test_no_path_in_this_direction_but_in_the_other(data: Path) -> None:
    done = whence("why-not", "predictions.churn_probability", "customers.email", data=data)
    assert done.returncode == Exit.OK
    assert "there is no path in this direction; there is one the other way, from datasetField:" in done.stdout


def test_runs_of_a_job_are_those_of_its_latest_run(data: Path) -> None:
    by_job = whence("runs", "job:churn:report", "-o", "json", data=data)
    assert by_job.returncode == Exit.OK, by_job.stderr
    run = json.loads(by_job.stdout)["runs"][0]
    assert run["job"] == "job:churn:report"
    assert json.loads(whence("runs", run["run"], "-o", "json", data=data).stdout) == json.loads(by_job.stdout)


@pytest.mark.parametrize("arguments", [("dump",), ("upstream", "predictions.churn_probability"), ("search", "churn")])
def test_a_reader_that_has_read_enough_ends_it_silently(data: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "whence.cli", *arguments]
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        command, stdout=writing, stderr=subprocess.PIPE, env=os.environ | {"WHENCE_DATA": str(data)}
    ) as process:
        os.close(writing)
        _, errors = process.communicate(timeout=120)
    assert errors == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_a_port_that_is_taken_is_found_before_a_key_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = whence("up", "--port", str(port), data=tmp_path)
    assert (done.returncode, done.stdout) == (Exit.OUT_OF_SERVICE, "")
    assert f"cannot listen at 127.0.0.1:{port}: Address already in use" in done.stderr
    assert "key" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_lists_without_rows_say_so(tmp_path: Path) -> None:
    assert whence("keys", "list", data=tmp_path).stdout == "No keys.\n"
    measured = whence("kpis", data=tmp_path)
    assert (measured.returncode, measured.stderr) == (Exit.OK, "")
    assert "No KPI was measured yet; `whence publish` measures them." in measured.stdout


def test_an_error_as_json(data: Path) -> None:
    done = whence("upstream", "predictons", "--output", "json", data=data)
    error = json.loads(done.stderr)
    assert (done.returncode, done.stdout, error["error"]) == (Exit.MISTAKE, "", "NodeNotFoundError")
    assert error["candidates"][0] == "dataset:file:/lake/predictions"


def test_a_budget_that_cuts_is_told_and_a_depth_is_no_failing(data: Path) -> None:
    cut = whence("upstream", "churn_probability", "--max-nodes", "2", data=data)
    assert cut.returncode == Exit.CUT
    assert "Stopped by --max-nodes: 2 nodes" in cut.stdout
    shallow = whence("upstream", "churn_probability", "--depth", "1", data=data)
    assert shallow.returncode == Exit.OK
    assert "Stopped at the depth asked for" in shallow.stdout


def test_dump_prints_the_state(data: Path) -> None:
    done = whence("dump", data=data)
    lines = done.stdout.splitlines()
    assert done.returncode == Exit.OK
    assert lines == sorted(lines)
    assert {"fact": "field", "node": "datasetField:file:/lake/predictions:id", "declared": True} in map(
        json.loads, lines
    )


def test_help_names_commands_and_exit_codes_without_loading_the_heavy_parts() -> None:
    done = whence("--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == Exit.OK
    for word in (*COMMANDS, "Exit codes"):
        assert word in done.stdout
    loaded = {line.rsplit("|", 1)[-1].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert not loaded & {"pyspark", "fastapi", "sqlalchemy", "uvicorn", "pyarrow"}


@pytest.mark.parametrize("word", ["version", "--version"])
def test_the_version_is_that_of_the_package(word: str) -> None:
    done = whence(word)
    assert (done.returncode, done.stdout, done.stderr) == (Exit.OK, f"{__version__}\n", "")
    assert __version__ == metadata.version("whence-lineage")


def test_every_command_and_exit_code_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()
    for command in COMMANDS:
        assert f"whence {command}" in page
    for code in Exit:
        assert f"| {code.value} |" in page


def test_a_terminal_without_unicode_gets_ascii(data: Path) -> None:
    done = whence("upstream", "churn_probability", data=data, PYTHONIOENCODING="ascii")
    assert done.returncode == Exit.OK
    assert done.stdout.isascii()
    assert "`- customers.email  <- sha2(email, 256)  TRANSFORMATION masked\n" in done.stdout


@pytest.mark.parametrize("command", ["upstream", "downstream", "impact"])
def test_a_dataset_that_was_dropped_is_said_to_be(command: str, tmp_path: Path) -> None:
    engine = open_migrated(sqlite_url(tmp_path / "store.db"))
    drop = run(2, "COMPLETE", 5, "", [dataset("prod.t", {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}})])
    staging = run(3, "COMPLETE", 1, "src", "staging.t") | {"job": {"namespace": "n", "name": "staging"}}
    events = [run(1, "COMPLETE", 1, "src", "prod.t"), drop, staging]
    apply_bodies(engine, [json.dumps(one).encode() for one in events])
    engine.dispose()
    notice = "Deleted: the dataset was dropped or renamed at 2026-01-01T00:00:05"
    assert notice in whence(command, "dataset:n:prod.t", data=tmp_path).stdout
    assert "Deleted" not in whence(command, "dataset:n:staging.t", data=tmp_path).stdout
    past = whence(command, "dataset:n:prod.t", "--as-of", "2026-01-01T00:00:03", data=tmp_path).stdout
    assert "Deleted" not in past
    assert ("src" in past) is (command == "upstream")
