"""Without the extra `server`, Whence is a command line: what it can do works, and the rest says what to install.

The packages that only `requirements.lock` has, and `requirements-base.lock` has not, cannot be imported here.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SQL = "insert into sums select a + b as c from t"
BLOCKED = """\
import json, sys

class Blocked:
    names = set(json.loads(sys.argv.pop(1)))

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""
COMMAND_LINE = f"{BLOCKED}\nfrom whence.cli.commands.app import main\nmain()"
EVERY_HELP = f"""{BLOCKED}
import typer.main
from typer.testing import CliRunner
from whence.cli.commands.app import app

def commands(group, path=()):
    for name, one in group.commands.items():
        yield from commands(one, (*path, name)) if hasattr(one, "commands") else [(*path, name)]

for words in commands(typer.main.get_group(app)):
    print(*words, CliRunner().invoke(app, [*words, "--help"]).exit_code)
"""
EACH = f"""{BLOCKED}
import contextlib, io, json
from whence.cli.commands.app import main

def run(words):
    sys.argv[1:] = words
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()

print(json.dumps([run(words) for words in json.loads(sys.argv[1])]))
"""
"""Runs several commands: their exit codes, and what they print. A process for each of them would import the same."""


def locked(name: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", (ROOT / name).read_text("utf-8"), re.MULTILINE))


@pytest.fixture(scope="module")
def blocked() -> str:
    """The modules of the server's packages, as JSON."""
    server = locked("requirements.lock") - locked("requirements-base.lock")
    assert {"pyspark", "fastapi", "numpy", "deltalake", "confluent-kafka"} <= server
    owners = packages_distributions()
    names = [
        module
        for module, of in owners.items()
        if {re.sub(r"[-_.]+", "-", one).lower() for one in of} <= server and module != "sqlglot"
    ]
    assert {"pyspark", "fastapi", "numpy", "argon2"} <= set(names)
    return json.dumps(names)


def run(blocked: str, *words: str, script: str = COMMAND_LINE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, blocked, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_sql_is_read(blocked: str) -> None:
    done = run(blocked, "sql", SQL, "-o", "json")
    assert done.returncode == 0, done.stderr
    assert "sums" in done.stdout


def test_query_logs_become_events(blocked: str) -> None:
    log = "tests/capture/sql_log/golden/postgres.log"
    words = ("--format", "postgres", "--prefix", "%m [%p] %u@%d %c ", "--namespace", "pg", "-o", "ndjson")
    done = run(blocked, "capture", "sql-log", log, *words)
    assert done.returncode == 0, done.stderr
    assert len(list(map(json.loads, done.stdout.splitlines()))) == 10


def test_dbt_becomes_events(blocked: str, tmp_path: Path) -> None:
    metadata = {"adapter_type": "postgres", "dbt_version": "1.10.0", "project_name": "shop", "invocation_id": "1"}
    schema = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    manifest = {"metadata": {**metadata, "dbt_schema_version": schema}, "nodes": {}, "sources": {}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    done = run(blocked, "capture", "dbt", str(tmp_path), "--namespace", "postgres://db:5432", "-o", "ndjson")
    assert done.returncode == 0, done.stderr


def run_each(blocked: str, commands: Iterable[tuple[str, ...]]) -> list[tuple[int, str, str]]:
    """The exit code, the output and the errors of each command."""
    done = run(blocked, json.dumps([*commands]), script=EACH)
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout)]


def test_what_needs_the_server_says_what_to_install(blocked: str) -> None:
    question = ("upstream", "x", "--store", "sqlite:///store.db")
    needing = [("up",), ("rebuild",), ("demo", "--once"), question, ("keys", "list")]
    for words, (code, printed, errors) in zip(needing, run_each(blocked, needing), strict=True):
        assert (code, printed) == (2, ""), words
        assert re.fullmatch(
            r"whence: this needs \w+, which is not installed: pip install 'whence-lineage\[server\]'\n", errors
        ), (words, errors)


def test_a_question_to_nobody_says_how_to_name_a_server(blocked: str) -> None:
    ((code, printed, errors),) = run_each(blocked, [("upstream", "x")])
    assert (code, printed) == (2, "")
    message = " ".join(re.sub("[│╭╮╰╯─]", " ", errors).split())
    assert "no server is named: set WHENCE_URL and WHENCE_API_KEY, or give --url;" in message
    assert "a store on this machine needs pip install 'whence-lineage[server]'" in message


QUESTIONS = {
    "upstream": ("x",),
    "downstream": ("x",),
    "impact": ("x",),
    "measurements": ("x",),
    "checks": ("x",),
    "changes": ("x",),
    "diagnose": ("x",),
    "sensitivity": ("x",),
    "subject": ("x",),
    "history": ("x",),
    "search": ("x",),
    "path": ("x", "y"),
    "why": ("x", "y"),
    "why-not": ("x", "y"),
    "runs": ("latest",),
    "diff": ("1d ago",),
}
NOWHERE = "http://127.0.0.1:9"
"""The discard port, at which nothing listens."""


def test_a_question_to_a_server_needs_no_more(blocked: str) -> None:
    asked = [(name, *words, "--url", NOWHERE) for name, words in QUESTIONS.items()]
    for words, (code, printed, errors) in zip(asked, run_each(blocked, asked), strict=True):
        assert (code, printed) == (4, ""), words
        assert errors.startswith(f"whence: {NOWHERE}: nothing listens there"), (words, errors)


def test_the_gate_needs_no_more(blocked: str, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "a"], ["add", "."], ["commit", "-qm", "b"]):
        (tmp_path / "job.py").write_text("")
        subprocess.run([*git, *words], check=True)
    done = run(blocked, "gate", "--repository", str(tmp_path), "--base", "HEAD~1", "--url", NOWHERE)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"whence: {NOWHERE}: nothing listens there")
    same = run(blocked, "gate", "--repository", str(tmp_path), "--base", "HEAD", "--url", NOWHERE)
    assert same.stdout == "pass: nothing that others rely on changes\n"


def test_every_command_can_say_how_it_is_used(blocked: str) -> None:
    done = run(blocked, script=EVERY_HELP)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) > 30
    assert [line for line in lines if not line.endswith(" 0")] == []


def test_objectives_of_consumers_are_read(blocked: str) -> None:
    """A contract that promises less is compared with them."""
    slo = {"name": "a", "dataset": "dataset:pg:gold", "objective": {"target": "90%"}}
    slo |= {"indicator": {"freshness": {"limit": "1h", "age": "business"}}}
    text = json.dumps({"version": 1, "service": "shop", "slos": [slo]})
    reads = f"""{BLOCKED}
from whence.cli.gate.contracts import consumers
from whence.govern.slos.demands import demand_of
from whence.govern.slos.records import read_objective
print(demand_of(read_objective(sys.argv[1])))
"""
    done = run(blocked, text, script=reads)
    assert (done.stdout, done.stderr) == ("MaximumAge(seconds=3600.0)\n", "")
