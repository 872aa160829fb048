"""A child process that ends with its parent, however that ends."""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial

_SET_DEATH_SIGNAL = 1


def with_parent(number: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn` for a child that gets this signal when its parent ends, be it by `kill -9`. Linux only.

    Linux sends it when the thread ends that started the child: so it does nothing for children of other threads than
    the main one.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return partial(_set_death_signal, os.getpid(), number if is_main else 0)


def end_with_parent() -> None:
    """Let SIGKILL end this process when the thread ends that started it. Linux only."""
    control_process(_SET_DEATH_SIGNAL, signal.SIGKILL)


def control_process(option: int, value: int) -> None:
    """Call Linux' `prctl` for this process; nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _set_death_signal(parent: int, number: int) -> None:
    control_process(_SET_DEATH_SIGNAL, number)
    if number and os.getppid() != parent:
        os.kill(os.getpid(), number)
