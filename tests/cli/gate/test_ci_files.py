"""The files for CI: what they run are commands and options that there are."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from whence.cli.commands.app import app
from whence.cli.gate.forms import Form, Publish

ROOT = Path(__file__).parents[3]
ACTION, TEMPLATE = ROOT / "deploy/ci/github/action.yml", ROOT / "deploy/ci/gitlab/whence-gate.yml"


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def scripts() -> list[str]:
    """The shell text of every step."""
    steps = [step["run"] for step in loaded(ACTION)["runs"]["steps"] if "run" in step]
    job = loaded(TEMPLATE)["whence-gate"]
    hooks = [one["entry"] for one in loaded(ROOT / ".pre-commit-hooks.yaml") if "gate" in one["id"]]
    assert len(hooks) == 2
    guide = (ROOT / "docs/how-to/gate.md").read_text("utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    blocks = [text for language, text in fenced if not language]
    return [*steps, *job["script"], *hooks, *blocks]


def test_every_option_that_they_use_exists() -> None:
    gate = typer.main.get_group(app).commands["gate"]
    assert isinstance(gate, typer.core.TyperGroup)
    known = {name for command in (gate, *gate.commands.values()) for one in command.params for name in one.opts}
    lines = [text.replace("\\\n", " ") for text in scripts()]
    used = [line for text in lines for line in text.splitlines() if "whence gate" in line]
    assert len(used) > 4
    for line in used:
        assert set(re.findall(r"(--[a-z-]+)", line)) <= known, line
        assert set(re.findall(r"--write (\w+)=", line)) <= set(Form), line
        assert set(re.findall(r"--publish (\w+)", line)) <= set(Publish), line


@pytest.mark.parametrize("text", scripts())
def test_the_shell_can_read_them(text: str) -> None:
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


def test_no_input_becomes_text_of_a_script() -> None:
    """An expression in `run` would let the title of a pull request be a command."""
    assert [text for text in scripts() if "${{" in text] == []


def test_the_options_that_a_user_gives_are_words_for_the_gate(tmp_path: Path) -> None:
    """Code is read only if the gate is told where it is. An option is no command, and no pattern of files."""
    found, options = tmp_path / "words", "--sql models/*\n--dialect $(id)"
    whence = tmp_path / "whence"
    whence.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {found}\n')
    whence.chmod(0o755)
    (tmp_path / "models").mkdir()
    (tmp_path / "models/a").touch()
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "OPTIONS": options, "WHENCE_GATE_OPTIONS": options}
    run = loaded(ACTION)["runs"]["steps"][1]["run"]
    for script in (run, loaded(TEMPLATE)["whence-gate"]["script"][-1]):
        subprocess.run(["bash", "-eo", "pipefail"], input=script, text=True, check=True, cwd=tmp_path, env=environment)
        words = found.read_text().splitlines()
        assert words[words.index("--sql") :][:4] == ["--sql", "models/*", "--dialect", "$(id)"]


def installed(folder: Path, action: Path, version: str) -> tuple[int, list[str]]:
    """The exit code of the action's first step, and what it lets pip install."""
    found, python = folder / "words", folder / "python"
    python.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {found}\n')
    python.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(action), "PACKAGES": version}
    step = loaded(ACTION)["runs"]["steps"][0]["run"]
    done = subprocess.run(["bash", "-eo", "pipefail"], input=step, text=True, check=False, cwd=folder, env=environment)
    return done.returncode, found.read_text().splitlines()[5:] if found.exists() else []


def test_the_action_installs_its_own_whence(tmp_path: Path) -> None:
    """The package `whence` on PyPI is another project's."""
    assert installed(tmp_path, ACTION.parent, "") == (0, [f"{ROOT}/client", f"{ROOT}[trials]"])


def test_a_copy_of_the_action_installs_what_it_is_told(tmp_path: Path) -> None:
    copied = tmp_path / "deploy/ci/github"
    copied.mkdir(parents=True)
    assert installed(tmp_path, copied, "") == (2, [])
    assert installed(tmp_path, copied, "./client\n.[trials]") == (0, ["./client", ".[trials]"])


def test_nothing_is_installed_by_a_name_that_is_not_ours() -> None:
    installing = [line for text in scripts() for line in text.splitlines() if re.search("pip install", line)]
    assert len(installing) > 3
    assert [line for line in installing if re.search(r"""["' ]whence(\[|["' ]|$)""", line)] == []


def test_both_keep_the_reports() -> None:
    assert loaded(TEMPLATE)["whence-gate"]["artifacts"]["reports"] == {"codequality": "gl-code-quality-report.json"}
    assert "sarif=whence-gate/gate.sarif" in ACTION.read_text("utf-8")
    assert loaded(ACTION)["runs"]["steps"][-1]["with"]["path"] == "whence-gate"
