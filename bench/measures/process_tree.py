"""What a process and all below it take: CPU seconds, and memory at its peak."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psutil

_SECONDS = 2.0
"""Between two looks: reading who holds which pages takes some 90 ms for a pipeline."""


@dataclass(slots=True)
class Taken:
    """CPU in seconds; memory in bytes: proportional set size, shared pages divided among their holders."""

    peak_memory: int = 0
    _cpu: dict[psutil.Process, tuple[float, float]] = field(default_factory=dict)
    """Of each process, when it was seen first and last: what ended is not forgotten."""

    @property
    def cpu(self) -> float:
        """Of all processes, as far as they were seen."""
        return sum(last - first for first, last in self._cpu.values())

    def look(self, root: psutil.Process) -> None:
        """See what runs now."""
        for one in _tree(root):
            spent = _cpu_of(one)
            if spent is not None:
                first, _ = self._cpu.get(one, (0.0, 0.0))
                self._cpu[one] = first, spent

    def begin(self, root: psutil.Process) -> None:
        """What is spent by now does not count."""
        self._cpu = {one: (spent, spent) for one in _tree(root) if (spent := _cpu_of(one)) is not None}


@contextmanager
def taking(pid: int | None = None) -> Iterator[Taken]:
    """Measure while the context is open; what is taken is complete at its end, but for the last two seconds of
    processes that ended before.
    """
    root, taken, over = psutil.Process(pid), Taken(), threading.Event()
    taken.begin(root)
    watch = threading.Thread(target=_watch, args=(root, taken, over), daemon=True)
    watch.start()
    try:
        yield taken
    finally:
        over.set()
        watch.join()
        taken.look(root)


def _watch(root: psutil.Process, taken: Taken, over: threading.Event) -> None:
    while not over.wait(_SECONDS):
        taken.look(root)
        taken.peak_memory = max(taken.peak_memory, sum(map(_memory, _tree(root))))


def _tree(root: psutil.Process) -> list[psutil.Process]:
    return [root, *root.children(recursive=True)]


def _cpu_of(one: psutil.Process) -> float | None:
    try:
        return float(sum(one.cpu_times()[:2]))
    except psutil.NoSuchProcess:
        return None


def _memory(one: psutil.Process) -> int:
    try:
        return int(one.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
