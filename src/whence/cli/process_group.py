"""Processes that live and die in groups: a child with all its descendants, and what a killed parent left behind."""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

MARK = "WHENCE_SUPERVISED"
"""An environment variable that all descendants carry, so that they are known again after their parent was killed."""

_SET_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_GONE_SECONDS = 10


def spawn(argv: Sequence[str], *, mark: str, fd: int, log: Path, scratch: Path) -> "subprocess.Popen[bytes]":
    """Start a process in a group of its own, which dies with this one. It inherits `fd`; its stderr goes to `log`.

    `scratch` is emptied and becomes its place for temporary files: what a killed one left there goes with the next.
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
            env=os.environ | {MARK: mark, "TMPDIR": str(scratch)},
            preexec_fn=partial(_die_with, os.getpid()),
        )


def adopt_orphans() -> None:
    """Become the parent of descendants that lose theirs, so that they can be waited for."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to all of a group; none may be left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def is_group_alive(group: int) -> bool:
    """Whether the group has a process, be it one that nobody has waited for yet."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def end_leftovers(mark: str) -> int:
    """Kill what carries this mark, and wait until it is gone. Returns how many processes that were."""
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


def _die_with(parent: int) -> None:
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
