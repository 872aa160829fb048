"""Contracts as files: which ones a command reads, and the report of `whence contract check`."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from whence import __version__
from whence.cli.gate.forms import Report
from whence.cli.output.streams import Exit, print_lines, safe
from whence.errors import ArtifactError
from whence.govern.contracts.check import check_contract
from whence.govern.contracts.problem_reports import problem_document, problem_lines, problem_sarif

_SUFFIXES = (".odcs.yaml", ".odcs.yml", ".odcs.json")
"""The names by which the standard's files are found in a directory."""
_NOT_SEARCHED = ("node_modules", "__pycache__")


def find_contracts(paths: Sequence[Path]) -> list[Path]:
    """The files among the paths, and the contracts in the directories among them. Raises ArtifactError if there are
    none in a directory.
    """
    return [file for path in paths for file in _files(path)]


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(one for one in path.rglob("*") if _is_contract(one.relative_to(path)) and one.is_file())
    if not found:
        raise ArtifactError(str(path), f"it has no contract: no file's name ends with {', '.join(_SUFFIXES)}")
    yield from found


def _is_contract(path: Path) -> bool:
    is_hidden = any(part.startswith(".") or part in _NOT_SEARCHED for part in path.parts[:-1])
    return not is_hidden and is_contract_name(path.name)


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
    checked = [check_contract(read_text(path), path.as_posix()) for path in find_contracts(paths)]
    match report:
        case Report.JSON:
            sys.stdout.write(json.dumps(problem_document(checked), indent=2) + "\n")
        case Report.SARIF:
            sys.stdout.write(json.dumps(problem_sarif(checked, __version__), indent=2) + "\n")
        case Report.TEXT:
            print_lines(Text(safe(line)) for line in problem_lines(checked))
    return Exit.BLOCKED if any(one.problems for one in checked) else Exit.OK
