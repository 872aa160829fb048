"""The thread that sends what is in the outbox: first the events of this process, then those that others left."""

from __future__ import annotations

import logging
import time
from collections import deque
from threading import Condition, Thread

from whence_client.outbox.delivery import Delivery, deliver
from whence_client.outbox.destinations import Destination, keep_large
from whence_client.outbox.encoding import encode_event
from whence_client.outbox.flush import BATCH_BYTES, BATCH_EVENTS
from whence_client.outbox.losses import Losses
from whence_client.outbox.spool import Spool, abandoned

log = logging.getLogger(__name__)

_GATHER_SECONDS = 0.05
"""How long the thread waits for more events: a batch costs the collector hardly more than one event."""
_END_SECONDS, _URGENT_PAUSE = 0.2, 0.1
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_KEPT_REFUSALS = 1_000


class Sender:
    """Sends a spool from a daemon thread, which begins with the first `wake`."""

    def __init__(self, spool: Spool, destination: Destination, losses: Losses) -> None:
        self.sent = self.refused = 0
        self.problem = ""
        self.refusals: deque[str] = deque(maxlen=_KEPT_REFUSALS)
        self._spool, self._destination = spool, destination
        self._losses = losses
        self._post = destination.post()
        self._batches = True
        self._changed = Condition()
        self._thread: Thread | None = None
        self._progress = time.monotonic()
        self._pause = 0.0
        self._is_urgent = self._is_stopped = self._has_news = self._is_idle = False
        self._has_sent_abandoned = False

    def wake(self) -> None:
        """Report that there is something to send."""
        with self._changed:
            self._has_news = True
            if self._thread is None:
                self._progress = time.monotonic()
                self._thread = Thread(target=self._run, name="whence-outbox", daemon=True)
                self._thread.start()
            elif self._is_idle:
                self._progress = time.monotonic()  # `drain` may come before the thread continues
            self._changed.notify_all()

    def drain(self, seconds: float, *, stall: float) -> bool:
        """Wait until this process's events and those that ended processes left are sent.

        Gives up after `seconds`, or without an answer for `stall` seconds. True if no event is left. Without the wait
        for the files of ended processes, a series of short processes would never send them. A collector that failed
        at the last try is tried once more if it has time to answer.
        """
        end = time.monotonic() + seconds
        with self._changed:
            if self._thread is None:
                return not self._has_unsent_events()
            failed_before = bool(self.problem) and stall < seconds
            self._is_urgent = True
            self._changed.notify_all()
            while self._has_work() and not failed_before:
                now = time.monotonic()
                limit = min(end, self._progress + stall)
                if now >= limit or (self.problem and stall < seconds):
                    break
                self._changed.wait(limit - now)
            self._is_urgent = False
            return not self._has_work()

    def stop(self) -> None:
        """Ask the thread to end and to close the spool. While it waits for the collector, it does not end."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        if self._thread is None:
            self._spool.close()
        else:
            self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        try:
            self._send_until_stopped()
            self._spool.close()
        except Exception as error:  # such as a disk that is gone; what is in the spool is for the next process
            self.problem = f"{type(error).__name__}: {error}"
            log.warning("events are kept, but no longer sent: %s", self.problem)
        finally:
            self._post.close()

    def _send_until_stopped(self) -> None:
        while self._wait_for_events():
            self._spool.sync()
            self._spool.compact(self._destination.settings.outbox_bytes, self._losses.add)
            self._send_some(self._spool)
            if not self.problem:
                self._report_losses()
            if not self._spool.waiting and not self._has_sent_abandoned:
                self._send_abandoned()
            with self._changed:
                self._changed.notify_all()

    def _wait_for_events(self) -> bool:
        """Wait for events, for the pause after a failure, and a moment for more. False if the thread is to end."""
        with self._changed:
            if self._pause:
                self._changed.wait_for(lambda: self._is_stopped or self._is_urgent, self._pause)
                self._changed.wait_for(lambda: self._is_stopped, min(self._pause, _URGENT_PAUSE))
            self._is_idle = True
            self._changed.wait_for(lambda: self._is_stopped or self._has_news or self._has_work())
            self._has_news = self._is_idle = False
            if not self._is_stopped and not self._is_urgent:
                self._changed.wait_for(lambda: self._is_stopped or self._is_urgent, _GATHER_SECONDS)
            self._progress = time.monotonic()
            return not self._is_stopped

    def _has_work(self) -> bool:
        return self._has_unsent_events() or not self._has_sent_abandoned

    def _has_unsent_events(self) -> bool:
        return bool(self._spool.waiting or self._losses)

    def _send_some(self, spool: Spool) -> None:
        lines = spool.read(BATCH_BYTES, BATCH_EVENTS)
        if not lines:
            return
        done = deliver(lines, self._post, batches=self._batches)
        self._batches = done.batches
        keep_large(self._destination, done.large)
        spool.acknowledge(sum(map(len, lines[: done.taken])))
        with self._changed:
            self.sent += done.taken - len(done.refused) - len(done.large)
            self.refused += len(done.refused)
            self.refusals.extend(done.refused)
            self._note(done)
            self._changed.notify_all()

    def _note(self, done: Delivery) -> None:
        if done.taken:
            self._progress = time.monotonic()
        if done.large:
            log.warning("%s events are too large; `whence capture flush` tries them again", len(done.large))
        if done.refused:
            log.warning("the collector refused %s events, the first: %s", len(done.refused), done.refused[0])
        if done.problem and not self.problem:
            log.warning("events wait in %s: %s", self._destination.folder, done.problem)
        self.problem = done.problem
        grown = min(max(self._pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        self._pause = max(grown, done.retry_after) if done.problem else 0.0

    def _report_losses(self) -> None:
        with self._changed:  # `drain` must not look between the two
            for event in self._losses.take():
                self._spool.append(encode_event(event))

    def _send_abandoned(self) -> None:
        """Send the events that ended processes left. Files that another process is sending are left to it."""
        for spool in abandoned(self._destination.folder):
            try:
                while spool.waiting:
                    if self._is_stopped:
                        return
                    self._send_some(spool)
                    if self.problem:
                        return
            finally:
                spool.close()
        with self._changed:
            self._has_sent_abandoned = True
            self.problem, self._pause = "", 0.0
