"""Process groups: a child with all its descendants, and the leftovers of a killed parent."""

import contextlib
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from whence.death_signal import control_process, with_parent

MARK = "WHENCE_SUPERVISED"
"""An environment variable of all descendants, which identifies them after their parent was killed."""

_ATTEMPT = "WHENCE_START_ATTEMPT"
"""A setting for a child: 1, plus 1 for each consecutive start that took too long (`derive.__main__`)."""

_SET_CHILD_SUBREAPER = 36
_GONE_SECONDS = 10


def spawn(
    argv: Sequence[str], *, mark: str, fd: int, log: Path, scratch: Path, attempt: int = 1
) -> "subprocess.Popen[bytes]":
    """Start a process in its own group, which dies with this one. It inherits `fd`; its stderr goes to `log`.

    `scratch` is emptied and becomes its directory for temporary files, so a killed process leaves nothing for long.
    Raises OSError.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    with log.open("ab") as stderr:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            pass_fds=[fd],
            process_group=0,
            env=os.environ | {MARK: mark, _ATTEMPT: str(attempt), "TMPDIR": str(scratch)},
            preexec_fn=with_parent(signal.SIGKILL),
        )


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that they can be waited for."""
    control_process(_SET_CHILD_SUBREAPER, 1)


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a group, which may be empty."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def is_group_alive(group: int) -> bool:
    """Whether the group has a process, including zombies."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def end_leftovers(mark: str) -> int:
    """Kill the processes with this mark, and wait for their end. Returns their number."""
    leftovers = [pid for pid in _processes() if _carries(pid, mark)]
    for pid in leftovers:
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            select.select([handle], [], [], _GONE_SECONDS)
            os.close(handle)
    return len(leftovers)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid()]
    except FileNotFoundError:
        return []


def _carries(pid: int, mark: str) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")
