"""`whence sql --check`, by itself and as the hook that `.pre-commit-hooks.yaml` declares, in a real Git repository."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from whence.cli.commands.app import app

ROOT = Path(__file__).parents[2]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
GOOD = "insert into daily (day, total) select o.day, sum(o.amount) from orders o group by o.day;\n"
BAD = f"{GOOD}\ninsert into x selec 1;\n"
STAR = f"{GOOD}insert into copy\n  select * from orders;\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Git repository with a commit, and the `whence` of this environment on the PATH."""
    git(tmp_path, "init", "-q")
    put(tmp_path, "etl/old.sql", BAD)
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def git(where: Path, *words: str) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run(["git", *words], cwd=where, env=clean, check=True, capture_output=True, text=True).stdout


def put(where: Path, name: str, text: str) -> None:
    (where / name).parent.mkdir(parents=True, exist_ok=True)
    (where / name).write_text(text, "utf-8")


def run_hook(where: Path, *arguments: str) -> tuple[int, list[str]]:
    """What pre-commit does: the hook's entry, its arguments, and the files of its type that are staged."""
    (hook,) = (one for one in HOOKS if one["id"] == "whence-sql")
    assert hook["types"] == ["sql"]
    staged = [name for name in git(where, "diff", "--cached", "--name-only").splitlines() if name.endswith(".sql")]
    program, *words = shlex.split(hook["entry"])
    assert program == "whence"
    command = [sys.executable, "-m", "whence.cli", *words, *arguments, *staged]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_the_hook_looks_at_what_is_staged(repository: Path) -> None:
    put(repository, "etl/new one.sql", GOOD)
    git(repository, "add", ".")
    assert run_hook(repository, "--dialect", "postgres") == (0, ["1 file: 0 statements failed, 0 not known"])
    put(repository, "etl/new one.sql", BAD)
    put(repository, "etl/star.sql", STAR)
    git(repository, "add", ".")
    code, lines = run_hook(repository, "--dialect", "postgres")
    assert code == 1
    assert lines[0].startswith("etl/new one.sql:3:1: failed ")
    assert lines[1:] == [
        "etl/star.sql:3:17: star_not_expanded orders",
        "2 files: 1 statement failed, 1 not known",
    ]


def test_what_is_not_known_fails_if_strict(repository: Path) -> None:
    put(repository, "star.sql", STAR)
    git(repository, "add", ".")
    assert run_hook(repository)[0] == 0
    assert run_hook(repository, "--strict")[0] == 1
    put(repository, "columns.json", json.dumps({"orders": ["day", "amount"]}))
    assert run_hook(repository, "--strict", "--schema", "columns.json")[0] == 0


def check(*arguments: str, stdin: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["sql", "--check", *arguments], input=stdin)
    return done.exit_code, done.output


def test_directories_and_stdin(repository: Path) -> None:
    put(repository, "etl/deep/two.sql", GOOD)
    put(repository, "etl/deep/notes.txt", "no SQL")
    code, output = check("etl", "-", "-o", "json", stdin="select a from")
    document = json.loads(output)
    assert (code, document["files"]) == (1, 3)
    assert {(one["file"], one["line"], one["failed"]) for one in document["problems"]} == {
        ("etl/old.sql", 3, True),
        ("stdin", 1, True),
    }


def test_a_file_that_is_not_there_is_no_sql(repository: Path) -> None:
    code, output = check("etl/nowhere.sql")
    assert (code, "there is no file" in output) == (2, True)


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff".encode() + BAD.encode(),
        BAD.encode("utf-16"),
        b"-- caf\xe9\n\n" + BAD.encode("latin-1")[len(GOOD) + 1 :],
    ],
)
def test_files_as_editors_save_them(repository: Path, content: bytes) -> None:
    (repository / "saved.sql").write_bytes(content)
    code, output = check("saved.sql")
    assert (code, output.splitlines()[0].startswith("saved.sql:3:1: failed")) == (1, True)


def test_several_files_as_trees_and_as_a_document(repository: Path) -> None:
    put(repository, "a.sql", GOOD)
    put(repository, "b.sql", GOOD)
    done = CliRunner().invoke(app, ["sql", "a.sql", "b.sql", "-o", "json"])
    assert [one["file"] for one in json.loads(done.stdout)["files"]] == ["a.sql", "b.sql"]
    shown = CliRunner().invoke(app, ["sql", "a.sql", "b.sql"]).stdout.splitlines()
    assert [line for line in shown if line.endswith(".sql")] == ["a.sql", "b.sql"]
    assert shown.count("1:1 insert parsed  orders → daily") == 2
