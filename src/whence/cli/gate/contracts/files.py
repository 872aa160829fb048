"""Contracts as files: which ones a command reads, and the report of `whence contract check`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from whence import __version__
from whence.cli.gate.forms import Report
from whence.cli.output.streams import Exit, print_lines, safe
from whence.errors import ArtifactError
from whence.govern.contracts.check import Checked
from whence.govern.contracts.files import check_dbt, check_file
from whence.govern.contracts.problem_reports import problem_document, problem_lines, problem_sarif

_SUFFIXES = (".odcs.yaml", ".odcs.yml", ".odcs.json")
"""The names by which the standard's files are found in a directory."""
_YAML = (".yaml", ".yml")
"""Of dbt's files, which are found by what they contain."""
_NOT_SEARCHED = ("node_modules", "__pycache__")


def check_paths(paths: Sequence[Path]) -> list[Checked]:
    """Check the files among the paths, and the contracts in the directories among them. Raises ArtifactError if there
    are none in a directory.
    """
    return [checked for path in paths for checked in (_check_folder(path) if path.is_dir() else [_check(path)])]


def _check(path: Path) -> Checked:
    return check_file(read_text(path), path.as_posix())


def _check_folder(folder: Path) -> list[Checked]:
    files = sorted(one for one in folder.rglob("*") if _is_searched(one.relative_to(folder)) and one.is_file())
    checked = [found for one in files if (found := _check_found(one)) is not None]
    if not checked:
        names = ", ".join(_SUFFIXES)
        raise ArtifactError(str(folder), f"it has no contract: no file's name ends with {names}, and no model has one")
    return checked


def _check_found(path: Path) -> Checked | None:
    """A file of a directory, checked; None if it is none with contracts."""
    if is_contract_name(path.name):
        return _check(path)
    try:
        return check_dbt(read_text(path), path.as_posix())
    except ArtifactError:
        return None  # not a text: nothing that dbt reads


def _is_searched(path: Path) -> bool:
    is_hidden = any(part.startswith(".") or part in _NOT_SEARCHED for part in path.parts[:-1])
    return not is_hidden and (is_contract_name(path.name) or is_dbt_name(path.name))


def is_dbt_name(name: str) -> bool:
    """Whether a file may have the contracts of dbt's models."""
    return name.lower().endswith(_YAML) and not is_contract_name(name)


def is_contract_name(name: str) -> bool:
    """Whether a file has the name of a contract."""
    return name.lower().endswith(_SUFFIXES)


def read_text(path: Path) -> str:
    """The text of a file, with its own line ends. Raises ArtifactError."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(str(path), f"it cannot be read: {error}") from None


def show_checked(paths: Sequence[Path], report: Report) -> Exit:
    """Check contracts, and print every mistake with its line. Raises ArtifactError."""
    checked = check_paths(paths)
    match report:
        case Report.JSON:
            sys.stdout.write(json.dumps(problem_document(checked), indent=2) + "\n")
        case Report.SARIF:
            sys.stdout.write(json.dumps(problem_sarif(checked, __version__), indent=2) + "\n")
        case Report.TEXT:
            print_lines(Text(safe(line)) for line in problem_lines(checked))
    return Exit.BLOCKED if any(one.problems for one in checked) else Exit.OK
