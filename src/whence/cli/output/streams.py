"""Output of commands: answers on stdout, as text or as one JSON document; everything else on stderr."""

import json
import os
import signal
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum, StrEnum
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from whence.errors import (
    AddressError,
    AmbiguousNodeError,
    ApiError,
    DeliveryError,
    DialectError,
    LogError,
    NodeNotFoundError,
    NotInstalledError,
    QuestionError,
    RulesFileError,
    SourceError,
    StoreError,
    TableError,
    WhenceError,
)


class Output(StrEnum):
    """The form of an answer."""

    TEXT = "text"
    JSON = "json"


class Rows(StrEnum):
    """The form of an answer that is a list."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"

    @property
    def output(self) -> Output:
        """The form of an error."""
        return Output.JSON if self is Rows.JSON else Output.TEXT


class Exit(IntEnum):
    """Exit codes (docs/reference/cli.md)."""

    OK = 0
    MISTAKE = 1
    USAGE = 2
    CUT = 3
    OUT_OF_SERVICE = 4
    BLOCKED = 5
    APPROVAL_NEEDED = 6
    UNKNOWN = 7


def print_document(document: dict[str, Any]) -> None:
    """Print one JSON document. Non-ASCII characters are escaped, so that no name can control a terminal."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def print_csv(text: str) -> None:
    """Print CSV in UTF-8, independent of the terminal's encoding, with the line ends of RFC 4180."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def print_lines(lines: Iterable[Text], console: Console | None = None) -> None:
    """Print lines of text without markup and wrapping."""
    console = console or Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)


def print_error(error: WhenceError, output: Output) -> None:
    """Print an error on stderr."""
    if output is Output.JSON:
        sys.stderr.write(
            json.dumps({"error": type(error).__name__, "message": str(error), **_candidates(error)}) + "\n"
        )
        return
    console = Console(stderr=True, highlight=False)
    print_lines([Text.assemble(("whence: ", "bold red"), safe(str(error), keep="\n"))], console)


@contextmanager
def reporting(output: Output) -> Iterator[None]:
    """Turn Whence's errors into a message and an exit code."""
    try:
        yield
    except WhenceError as error:
        print_error(error, output)
        raise typer.Exit(exit_code(error)) from None


def exit_code(error: WhenceError) -> Exit:
    """The exit code of a command that ended with this error (docs/reference/errors.md)."""
    match error:
        case StoreError() | LogError() | TableError() | ApiError() | AddressError() | SourceError() | DeliveryError():
            return Exit.OUT_OF_SERVICE
        case DialectError() | NotInstalledError() | QuestionError() | RulesFileError():
            return Exit.USAGE
    return Exit.MISTAKE


@contextmanager
def naming_missing_extra() -> Iterator[None]:
    """Name the missing extra if a command imports a package that the base install does not have."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "whence", "whence_client"):
            raise  # a mistake in our own code
        missing = NotInstalledError(package, "pip install 'whence-lineage[server]'")
        print_error(missing, Output.TEXT)
        raise SystemExit(exit_code(missing)) from None


@contextmanager
def until_reader_leaves() -> Iterator[None]:
    """End silently, as SIGPIPE ends a program, when the reader of stdout has closed it (`whence … | head`)."""
    try:
        yield
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            _leave()  # Typer or Rich has met the closed pipe, and made it an exit code of 1
        _flush()
        raise
    _flush()


def _flush() -> None:
    try:
        if sys.stdout is not None:  # a program may be started without one
            sys.stdout.flush()
    except BrokenPipeError:
        _leave()


def _leave() -> NoReturn:
    os._exit(128 + signal.SIGPIPE)  # an orderly end would flush again, and complain


def safe(text: str, keep: str = "") -> str:
    """Text that cannot control a terminal: control, format and unassigned characters are shown as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe(letter) if letter not in keep else letter for letter in text)


def _safe(letter: str) -> str:
    if letter.isprintable() and not unicodedata.category(letter).startswith("C"):
        return letter
    return letter.encode("unicode_escape", "surrogatepass").decode() if letter != " " else letter


def _candidates(error: WhenceError) -> dict[str, Any]:
    match error:
        case NodeNotFoundError():
            return {"candidates": list(error.nearest)}
        case AmbiguousNodeError():
            return {"candidates": list(error.candidates)}
    return {}
