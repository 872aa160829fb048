"""`whence contract check`: files and directories, its reports and exit codes."""

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from whence.cli.commands.app import app

VALID = "apiVersion: v3.1.0\nkind: DataContract\nid: a\nversion: 1.0.0\nstatus: active\n"


def check(*words: str) -> Result:
    return CliRunner().invoke(app, ["contract", "check", *words])


def test_a_directory_has_its_contracts_checked(tmp_path: Path) -> None:
    for folder in ("a", "b", ".git", "node_modules"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "one.odcs.yaml").write_text(VALID)
    (tmp_path / "b" / "two.ODCS.yml").write_text(VALID + "nmae: x\n")
    (tmp_path / "b" / "other.yaml").write_text("a: b")
    (tmp_path / ".git" / "x.odcs.yaml").write_text("a: b")
    (tmp_path / "node_modules" / "x.odcs.yaml").write_text("a: b")
    result = check(str(tmp_path))
    assert result.exit_code == 5
    assert result.stdout.splitlines() == [
        f"{tmp_path}/b/two.ODCS.yml:6: no key 'nmae' belongs here; did you mean 'name'?",
        "1 of 2 contracts valid",
    ]
    assert check(str(tmp_path / "a")).stdout == "1 of 1 contract valid\n"


def test_forms(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(VALID)
    assert json.loads(check(str(file), "-o", "json").stdout)["contracts"][0]["valid"] is True
    assert json.loads(check(str(file), "-o", "sarif").stdout)["runs"][0]["results"] == []


def test_what_cannot_be_read(tmp_path: Path) -> None:
    assert check(str(tmp_path / "none.yaml")).exit_code == 2
    empty = check(str(tmp_path))
    assert (empty.exit_code, empty.stdout) == (1, "")
    assert "it has no contract" in empty.stderr
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00a")
    assert check(str(tmp_path / "a.yaml")).exit_code == 1


def test_hostile_names_cannot_control_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(VALID + '"\\e[2J": x\n')
    assert "\x1b" not in check(str(file)).stdout
