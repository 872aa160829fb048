"""Commands as runs: `whence run -- python train.py`. The command keeps its terminal, its output and its exit code."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from whence_client.captures.session import Session
from whence_client.events.facets import own_facet
from whence_client.process.parent import child_environment
from whence_client.runs.code import CodeLocation
from whence_client.runs.end_state import ReportedError
from whence_client.runs.run import Run

_PYTHON = re.compile(r"python(\d+(\.\d+)?)?(\.exe)?")
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_BOOTSTRAP = """
import sys
try:
    from whence_client.trace import main
except ImportError:
    import runpy
    arguments = sys.argv[2:]
    sys.argv = arguments[1:] if arguments[0] == "-m" else arguments
    if arguments[0] == "-m":
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        import os
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(os.path.abspath(arguments[0]), run_name="__main__")
else:
    main(sys.argv[1:])
"""
"""Runs the script with captures, or as it is where the Python has no whence-client."""


def run_command(command: Sequence[str], *, job: str = "", namespace: str = "", session: Session | None = None) -> int:
    """Run a command as a run of a job. Returns its exit code, 128 + the signal's number if a signal ended it.

    Raises OSError if the command cannot be started.
    """
    run = Run(
        job or _title(command), namespace=namespace, location=_location(command) or CodeLocation("", 0), session=session
    )
    run.start()
    environment = {**os.environ, **child_environment(run.ref)}
    try:
        process = subprocess.Popen(traced(command), env=environment)
    except OSError as error:
        run.finish(error)
        raise
    code = _wait(process)
    run.add_facet("whence_process", own_facet("ProcessRunFacet", exitCode=code, command=os.path.basename(command[0])))
    run.finish(_ending(code, is_traced=list(command) != traced(command)))
    return code if code >= 0 else 128 - code


def traced(command: Sequence[str]) -> list[str]:
    """The command, with captures if it is a Python script or module: `whence_client.trace` runs it."""
    arguments = list(command)
    if not _PYTHON.fullmatch(os.path.basename(arguments[0])):
        return arguments
    index = 1
    while index < len(arguments) and arguments[index].startswith("-") and arguments[index] not in ("-m", "-c", "-"):
        index += 2 if arguments[index] in _WITH_VALUE else 1
    rest = arguments[index:]
    if not rest or rest[0] in ("-c", "-"):
        return arguments
    return [*arguments[:index], "-c", _BOOTSTRAP, "--joined", *rest]


def _ending(code: int, *, is_traced: bool) -> BaseException | None:
    if code == 0:
        return None
    if code == -signal.SIGINT or code == 128 + signal.SIGINT:
        return KeyboardInterrupt()
    if code < 0:
        return ChildProcessError(f"signal {signal.Signals(-code).name} ended the command")
    return ReportedError() if is_traced else SystemExit(code)


def _wait(process: subprocess.Popen[Any]) -> int:
    """Wait for the command. What is sent to this process is for the command, too."""
    signals = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]

    def forward(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, forward) for number in signals}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _title(command: Sequence[str]) -> str:
    location = _script(command)
    return os.path.splitext(os.path.basename(location))[0] if location else os.path.basename(command[0])


def _location(command: Sequence[str]) -> CodeLocation | None:
    script = _script(command)
    return CodeLocation(script, 1) if script and os.path.isfile(script) else None


def _script(command: Sequence[str]) -> str:
    """The script or module of a Python command; else empty."""
    found = traced(command)
    if found == list(command):
        return ""
    rest = found[found.index("--joined") + 1 :]
    return rest[1] if rest[0] == "-m" else rest[0]


def main() -> None:
    """`python -m whence_client.runs.command`: for the `whence` command line."""
    sys.exit(run_command(sys.argv[1:]))
