"""SQL arguments of a command: text, files, directories of `.sql` files, standard input."""

import codecs
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""The header that SQL Server's tools write into files."""


@dataclass(frozen=True, slots=True)
class Script:
    """A text and its name: a file's path, `stdin`, or empty."""

    name: str
    text: str


def scripts_of(arguments: Iterable[str]) -> Iterator[Script]:
    """The scripts of each argument; of a directory, all `.sql` files by name."""
    for one in arguments:
        if one == "-":
            yield Script("stdin", sys.stdin.read())
            continue
        found = list(_files(one))
        if not one.strip():
            raise typer.BadParameter("the SQL is empty")
        if not found and _is_directory(one):
            raise typer.BadParameter(f"no .sql files in {one}")
        yield from (Script(str(file), text_in(file)) for file in found)
        if not found:
            yield Script("", one)


def text_in(file: Path) -> str:
    """A file's text; bytes that are not UTF-8 are replaced, so that positions are unchanged."""
    content = file.read_bytes()
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    return content.decode(encoding, errors="replace")


def _is_directory(argument: str) -> bool:
    try:
        return Path(argument).is_dir()
    except (OSError, ValueError):
        return False


def _files(argument: str) -> Iterator[Path]:
    path = Path(argument)
    try:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*.sql") if one.is_file())
            return
        is_file = path.is_file()
    except (OSError, ValueError):  # too long for a path, or with letters that none has
        return
    if not is_file and argument.endswith(".sql") and not any(map(str.isspace, argument)):
        raise typer.BadParameter(f"there is no file {argument}")
    if is_file:
        yield path
