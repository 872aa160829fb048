"""Command lines of Python, as its documentation has them: interpreter, options, and the program."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

_PYTHON = re.compile(r"python(\d+(\.\d+)?)?(\.exe)?")
_WITH_VALUE = "WXcm"
_HASHES = "--check-hash-based-pycs"
_NO_PROGRAM = frozenset("Vh?ix")
"""These options print something, wait for a person, or read the file in another way."""


@dataclass(frozen=True)
class PythonCommand:
    """`target` is `[script, …]`, `[-m, module, …]` or `[-c, code, …]`; `[-, …]` or empty text for code on stdin."""

    interpreter: str
    options: tuple[str, ...]
    target: tuple[str, ...]

    @property
    def is_stdin(self) -> bool:
        """Whether the program is read from stdin."""
        return self.target[0] in ("-", "")

    @property
    def script(self) -> str:
        """The path of the program; empty for modules and code."""
        return "" if self.target[0] in ("-m", "-c", "-") else self.target[0]

    @property
    def title(self) -> str:
        """The script without its ending, or the module; empty for code."""
        if self.target[0] == "-m":
            return self.target[1]
        return os.path.splitext(os.path.basename(self.script))[0]


def parse_python_command(command: Sequence[str]) -> PythonCommand | None:
    """The parts of a command that runs a Python program; None for other commands."""
    if not _PYTHON.fullmatch(os.path.basename(command[0])):
        return None
    options: list[str] = []
    rest = list(command[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-":
        flags, option, value = _split_option(rest.pop(0))
        is_known = not _NO_PROGRAM & set(flags) and (option == _HASHES or not option.startswith("--"))
        if not is_known or (option and not value and not rest):
            return None
        options += [f"-{flags}"] if flags else []
        rest = [value, *rest] if value else rest
        if option in ("-c", "-m"):
            return PythonCommand(command[0], tuple(options), (option, *rest))
        if option:
            options += [option, rest.pop(0)]
    return PythonCommand(command[0], tuple(options), tuple(rest) or ("",))


def _split_option(argument: str) -> tuple[str, str, str]:
    """The flags, the option with a value, and that value if it is in the same argument.

    >>> _split_option("-uWerror")
    ('u', '-W', 'error')
    """
    if argument.startswith("--"):
        return "", argument, ""
    place = next((at for at, letter in enumerate(argument) if letter in _WITH_VALUE), len(argument))
    option = argument[place : place + 1]
    return argument[1:place], f"-{option}" if option else "", argument[place + 1 :]
