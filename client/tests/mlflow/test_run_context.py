"""What MLflow's runs get to know of the job around them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from whence_client.events.runs import RunRef
from whence_client.mlflow.run_context import RunContext, run_tags
from whence_client.process.parent import parse_parent

ROOT = RunRef("prod", "nightly", "01941f29-7c00-7abc-8def-000000000001")
PARENT = RunRef("prod", "train/model", "01941f29-7c00-7abc-8def-000000000002", ROOT)


def test_the_run_around_it_and_its_root_can_be_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tags = run_tags(PARENT)
    assert tags["whence.folder"] == str(tmp_path)
    parent, root = parse_parent(tags["whence.parent"]), parse_parent(tags["whence.root"])
    assert parent == RunRef("prod", "train/model", PARENT.run_id)
    assert root == ROOT
    assert "whence.parent" not in run_tags(None)


def test_it_never_breaks_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence_client.mlflow.run_context.run_tags", lambda parent: 1 / 0)
    context = RunContext()
    assert context.in_context()
    assert context.tags() == {}


def test_the_commit_is_that_of_the_script(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "from whence_client.mlflow.run_context import RunContext\n"
        "from whence_client.runs import code\n"
        "context = RunContext()\n"
        "assert all(one.done.wait(60) for one in code._lookups.values())\n"
        "print(sorted(context.tags().items()))\n"
    )
    git = ["git", "-c", "user.name=ada", "-c", "user.email=ada@shop.example"]
    for words in (["init", "-q", "-b", "main"], ["add", "train.py"], ["commit", "-q", "-m", "feat: train"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    sha = subprocess.run([*git, "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    tags = dict(eval(done.stdout))
    assert tags["whence.branch"] == "main"
    assert tags["whence.commit"] == sha.stdout.strip()
    assert tags["whence.dirty"] == "False"
