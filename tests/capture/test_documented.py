"""The examples of docs/how-to/sql.md run as they stand there, and print what it says."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whence.cli.commands.app import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "sql.md").read_text("utf-8")
EXAMPLE = re.compile(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", re.DOTALL)

COMMAND = re.compile(r"```\n(?:\$ )?(whence sql .*?)\n(?:```\n\n```text\n)?(.*?)```", re.DOTALL)


def test_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    examples = COMMAND.findall(PAGE)
    assert len(examples) == 3
    for command, printed in examples:
        assert CliRunner().invoke(app, shlex.split(command)[1:]).stdout == printed


def test_the_library_example() -> None:
    ((code, printed),) = EXAMPLE.findall(PAGE)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "docs/how-to/sql.md", "exec"), {})
    assert output.getvalue() == printed
