"""The command as a process: exit codes, what is on stdout and what on stderr, JSON, and how fast help comes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from query.churn import NOW, WORLD, column
from query.worlds import POSITION, load
from whence.cli.output import Exit
from whence.store.engine import open_store, sqlite_url
from whence.store.migrate import migrate

COMMANDS = ("upstream", "downstream", "path", "search", "up", "demo", "ingest", "doctor", "rebuild", "dump", "version")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("data")
    engine = open_store(sqlite_url(directory / "store.db"))
    migrate(engine)
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
    assert named["nodes"] == [{"node": str(column("predictions", "churn_probability")), "kind": "field", "by": "name"}]
    jobs = json.loads(whence("search", "churn", "--kind", "job", "-o", "json", data=data).stdout)
    assert (jobs["nodes"], jobs["complete"]) == ([], True)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (
            ("upstream", "predictions.churn"),
            Exit.MISTAKE,
            "did you mean datasetField:file:/lake/predictions:churn_probability",
        ),
        (("upstream", "minutes\x1b[2J"), Exit.MISTAKE, r"\x1b[2J"),
        (("upstream",), Exit.USAGE, "Missing argument"),
        (("upstream", "model", "--as-of", "soon"), Exit.USAGE, "is no time"),
        (("upstream", "model", "--types", "some"), Exit.USAGE, "say direct, indirect or both"),
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
def test_what_goes_wrong_is_on_stderr(data: Path, arguments: tuple[str, ...], code: Exit, told: str) -> None:
    done = whence(*arguments, data=data)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


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


def test_every_command_and_exit_code_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    for command in COMMANDS:
        assert f"whence {command}" in page
    for code in Exit:
        assert f"| {code.value} |" in page


def test_a_terminal_without_unicode_gets_ascii(data: Path) -> None:
    done = whence("upstream", "churn_probability", data=data, PYTHONIOENCODING="ascii")
    assert done.returncode == Exit.OK
    assert done.stdout.isascii()
    assert "`- customers.email  <- sha2(email, 256)  TRANSFORMATION masked\n" in done.stdout
