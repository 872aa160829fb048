"""What a process and all below it take: CPU seconds, and memory at its peak."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

_SECONDS = 0.5


@dataclass(slots=True)
class Taken:
    """CPU in seconds; memory in bytes: proportional set size, shared pages divided among their holders."""

    cpu: float = 0.0
    peak_memory: int = 0


@contextmanager
def taking(pid: int | None = None) -> Iterator[Taken]:
    """Measure while the context is open; what is taken is complete at its end."""
    root, taken, over = psutil.Process(pid), Taken(), threading.Event()
    before = _cpu(root)
    watch = threading.Thread(target=_watch, args=(root, taken, over), daemon=True)
    watch.start()
    try:
        yield taken
    finally:
        taken.cpu = _cpu(root) - before
        over.set()
        watch.join()


def _watch(root: psutil.Process, taken: Taken, over: threading.Event) -> None:
    while not over.wait(_SECONDS):
        taken.peak_memory = max(taken.peak_memory, sum(map(_memory, _tree(root))))


def _tree(root: psutil.Process) -> list[psutil.Process]:
    return [root, *root.children(recursive=True)]


def _cpu(root: psutil.Process) -> float:
    return sum(map(_cpu_of, _tree(root)))


def _cpu_of(one: psutil.Process) -> float:
    try:
        # With those of children that have ended and were waited for.
        return sum(one.cpu_times()[:4])
    except psutil.NoSuchProcess:
        return 0.0


def _memory(one: psutil.Process) -> int:
    try:
        return int(one.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
