"""A tour of the demo: commands of Whence, run as a user would run them, with what they print."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from whence.errors import WhenceError

Say = Callable[[str], None]


def say(text: str) -> None:
    """Print one line, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Tour:
    """The demo's data, a new directory for files, and where to print."""

    data: Path
    folder: Path
    say: Say

    def run(self, *arguments: str, fine: Sequence[int] = (0,)) -> None:
        """Run a command of Whence in the directory, and print both. Raises WhenceError for another exit code."""
        self.say(f"$ {_shell(['whence', *arguments])}")
        self._print([sys.executable, "-m", "whence.cli", *arguments], fine, is_shown=True)

    def read(self, *arguments: str) -> str:
        """The output of a command of Whence, which is not printed."""
        return self._print([sys.executable, "-m", "whence.cli", *arguments], (0,), is_shown=False)

    def shell(self, *arguments: str) -> None:
        """Run another program there, and print both."""
        self.say(f"$ {_shell(arguments)}")
        self._print(arguments, (0,), is_shown=True)

    def _print(self, command: Sequence[str], fine: Sequence[int], is_shown: bool) -> str:
        environment = {**os.environ, "WHENCE_DATA": str(self.data)}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        if is_shown and done.stdout.strip():
            self.say(done.stdout.rstrip())
        if done.returncode not in fine:
            raise WhenceError(f"`{_shell(command[:4])}` failed ({done.returncode}): {done.stderr.strip()}")
        if done.returncode:
            self.say(f"exit code {done.returncode}")
        return done.stdout


def _shell(arguments: Sequence[str]) -> str:
    return " ".join(f"'{one}'" if set(one) & set(" >") else one for one in arguments)
