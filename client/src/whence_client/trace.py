"""`python -m whence_client.trace job.py`: run a script, or `-m module`, with captures of what it imports.

The script sees its own arguments, path and `__main__`; its output and its exit code are as without it.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from whence_client.captures.imports import install_on_import
from whence_client.captures.session import process_session, with_errors
from whence_client.events.runs import RUNNING, run_event
from whence_client.runs.active import enter, leave
from whence_client.runs.code import CodeLocation
from whence_client.runs.end_state import error_facets, state_of
from whence_client.runs.program import run_program
from whence_client.runs.python_command import PythonCommand
from whence_client.runs.run import CAPTURE, Run

USAGE = (
    "usage: python -m whence_client.trace [--job NAME] [--namespace NAMESPACE] (script.py | -m module) [argument ...]"
)


def main(arguments: Sequence[str]) -> None:
    """Run the program in the arguments, then end the process as it would have ended."""
    options, target = _parse(list(arguments))
    if not target or target == ["-m"]:
        sys.stderr.write(f"{USAGE}\n")
        raise SystemExit(2)
    python = PythonCommand(sys.executable, (), tuple(target))
    if python.script and not os.path.exists(python.script):
        message = os.strerror(errno.ENOENT)
        sys.stderr.write(f"{sys.executable}: can't open file {os.path.abspath(python.script)!r}: [Errno 2] {message}\n")
        raise SystemExit(2)
    install_on_import()
    run: Run | _Joined | None = _joined_run() if "--joined" in options else None
    if run is None:
        job = options.get("--job") or python.title or "python"
        run = Run(job, namespace=options.get("--namespace", ""), location=CodeLocation(python.script, 1))
    error = _run_target(run, target)
    if error is not None:
        _end_like(error)


class _Joined:
    """The run that the process around this one reports: only facts that it cannot have are added here."""

    def __init__(self, ref: Any) -> None:
        self.ref = ref
        self._session = process_session()

    def __enter__(self) -> _Joined:
        self._token = enter(self)
        return self

    def __exit__(self, *error: object) -> None:
        leave(self, self._token)

    def report(self, error: BaseException | None) -> None:
        """Send the error and what captures could not read, on the run that continues."""
        with self._session.guard(CAPTURE)("report"):
            facets, errors = error_facets(error), self._session.take_errors()
            if facets or errors:
                event = run_event(RUNNING, self.ref, datetime.now(timezone.utc), run_facets=facets)
                self._session.outbox.emit(with_errors(event, errors) if errors else event)


def _joined_run() -> _Joined | None:
    parent = process_session().parent()
    return _Joined(parent) if parent is not None else None


def _run_target(run: Any, target: list[str]) -> BaseException | None:
    try:
        with run:
            run_program(target)
    except BaseException as error:
        if isinstance(run, _Joined):
            run.report(error)
        return error
    if isinstance(run, _Joined):
        run.report(None)
    return None


def _end_like(error: BaseException) -> None:
    """End the process as the error would have ended it, without frames of this package in the traceback."""
    if isinstance(error, SystemExit):
        raise error
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    if state_of(error) == "ABORT" and isinstance(error, KeyboardInterrupt):
        process_session().outbox.close()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    raise SystemExit(1)


def _is_ours(filename: str) -> bool:
    return filename.startswith(os.path.dirname(os.path.abspath(__file__))) or "runpy" in os.path.basename(filename)


def _parse(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    while arguments and arguments[0].startswith("--"):
        option = arguments.pop(0)
        if option == "--":
            break
        if option == "--joined":
            options[option] = "1"
        elif option in ("--job", "--namespace") and arguments:
            options[option] = arguments.pop(0)
        else:
            return {}, []
    return options, arguments


if __name__ == "__main__":
    main(sys.argv[1:])
