"""The thread that reads plans and makes events, off the query's thread and off Spark's listener bus."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from whence_client.captures.guard import Guard

MOST_WAITING = 1000


class Worker:
    """Runs tasks one after the other. A task that does not fit into the queue is dropped, which the guard reports."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._tasks: queue.Queue[tuple[str, Callable[[], None]]] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, what: str, task: Callable[[], None]) -> None:
        """Run a task soon. `what` names it in reports of errors."""
        try:
            self._tasks.put_nowait((what, task))
        except queue.Full:
            self._guard.note(what, f"more than {MOST_WAITING} queries wait to be read; this one is not")
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="whence-spark", daemon=True)
                self._thread.start()

    def drain(self, seconds: float) -> bool:
        """Wait until all tasks are done, at most so long. True if they are."""
        end = time.monotonic() + seconds
        with self._tasks.all_tasks_done:
            while self._tasks.unfinished_tasks:
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self._tasks.all_tasks_done.wait(left)
        return True

    def _run(self) -> None:
        while True:
            what, task = self._tasks.get()
            try:
                task()
            except Exception as error:  # an unread plan is a gap, which the next event reports
                self._guard.note(what, error)
            finally:
                self._tasks.task_done()
