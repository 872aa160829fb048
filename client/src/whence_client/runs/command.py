"""Commands as runs: `whence run -- python train.py`. The command keeps its terminal, its output and its exit code."""

from __future__ import annotations

import os
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
from whence_client.runs.python_command import parse_python_command
from whence_client.runs.run import Run

_BOOTSTRAP = """
import sys
folder = sys.path[:1]
if folder == [""]:
    del sys.path[0]
try:
    from whence_client.trace import main
except Exception:
    import os
    os.execv(sys.executable, [sys.executable] + sys.argv[2:])
else:
    if folder == [""]:
        sys.path[:0] = folder
    main(["--joined", "--"] + sys.argv[2 + int(sys.argv[1]):])
"""
"""Runs the program with captures, or as it is where the Python has no whence-client. A module of the working directory
that is called as one of Python's, such as `uuid.py`, is not imported in its place.

Its arguments are the number of Python's options, these options, and the program.
"""


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
    """The command, with captures if it is a Python program: `whence_client.trace` runs it."""
    python = parse_python_command(command)
    if python is None or (python.is_stdin and sys.stdin is not None and sys.stdin.isatty()):
        return list(command)
    options = python.options
    return [python.interpreter, *options, "-c", _BOOTSTRAP, str(len(options)), *options, *python.target]


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
    python = parse_python_command(command)
    return (python.title if python else "") or os.path.basename(command[0])


def _location(command: Sequence[str]) -> CodeLocation | None:
    python = parse_python_command(command)
    is_file = python is not None and os.path.isfile(python.script)
    return CodeLocation(python.script, 1) if python and is_file else None


def main() -> None:
    """`python -m whence_client.runs.command`: for the `whence` command line."""
    sys.exit(run_command(sys.argv[1:]))
