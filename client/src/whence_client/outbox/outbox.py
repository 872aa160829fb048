"""The outbox of a process: `emit` keeps an event, a daemon thread sends it, the end of the process waits a little."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import weakref
from dataclasses import dataclass
from threading import Lock

from whence_client.events.facets import Event
from whence_client.events.runs import RUNNING
from whence_client.outbox.destinations import destination_of
from whence_client.outbox.encoding import encode_event
from whence_client.outbox.losses import Losses
from whence_client.outbox.sender import Sender
from whence_client.outbox.spool import Spool, new_path
from whence_client.process.settings import CONSOLE, FILE, OFF, Settings, read_settings

log = logging.getLogger(__name__)

_ROOM_FOR_RUNNING, _ROOM_FOR_OTHERS = 1.25, 1.5
"""The file may grow this far above the limit until the sender compacts it: the job's thread never does."""


@dataclass(frozen=True)
class OutboxStatus:
    """What became of the events of this process. `waiting` is in bytes; `problem`: why nothing is sent now.

    `refusals` are the reasons of the latest thousand events that the collector refused.
    """

    emitted: int
    waiting: int
    sent: int
    refused: int
    lost: int
    problem: str = ""
    refusals: tuple[str, ...] = ()


class Outbox:
    """Keeps events and sends them to one destination. Safe for threads and forks; no method raises.

    Call `emit` from the job's thread: it takes the time of a write to a local file, never that of the network.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._begin()
        _outboxes.add(self)

    def emit(self, event: Event) -> bool:
        """Keep an event until it is sent. False if it was lost, which is counted and reported."""
        try:
            if self.settings.transport == OFF:
                return True
            line = encode_event(event)
            if self.settings.transport in (CONSOLE, FILE):
                return self._write(line)
            return self._keep(line, event.get("eventType") == RUNNING)
        except Exception as error:  # no error here may break the job of the user
            self._warn("an event was lost", error)
            self._losses.total += 1
            return False

    def flush(self, seconds: float = 10.0, *, stall: float | None = None) -> bool:
        """Wait until everything is sent, at most so long. True if it is.

        A serverless function calls it before it returns: a frozen process sends nothing. With `stall` it gives up at a
        failure, or after `stall` seconds without a response.
        """
        try:
            return self._sender is None or self._sender.drain(seconds, stall=seconds if stall is None else stall)
        except Exception as error:
            self._warn("the outbox was not flushed", error)
            return False

    def sync(self) -> bool:
        """Bring what was emitted to the disk. True if it is there, or sent."""
        try:
            if self._spool is not None:
                self._spool.sync()
        except Exception as error:
            self._warn("the outbox was not synced", error)
            return False
        return True

    def close(self) -> None:
        """Send what can be sent within the budget of the settings; the rest is for the next process."""
        try:
            if self._sender is not None and self._spool is not None:
                budget = self.settings.exit_seconds
                self._sender.drain(budget, stall=budget / 2)
                for event in self._losses.take():
                    self._spool.append(encode_event(event))
                self._sender.stop()
                self._begin()
        except Exception as error:
            self._warn("the outbox was not closed", error)

    def status(self) -> OutboxStatus:
        """What became of the events so far."""
        sender, spool = self._sender, self._spool
        return OutboxStatus(
            emitted=self._emitted,
            waiting=spool.waiting if spool else 0,
            sent=sender.sent if sender else 0,
            refused=sender.refused if sender else 0,
            lost=self._losses.total,
            problem=sender.problem if sender else "",
            refusals=tuple(sender.refusals) if sender else (),
        )

    def _begin(self) -> None:
        self._lock = Lock()
        self._spool: Spool | None = None
        self._sender: Sender | None = None
        self._losses = Losses()
        self._emitted = 0
        self._warned: set[str] = set()

    def _keep(self, line: bytes, is_running: bool) -> bool:
        with self._lock:
            spool, sender = self._start()
            self._emitted += 1
            limit = self.settings.outbox_bytes * (_ROOM_FOR_RUNNING if is_running else _ROOM_FOR_OTHERS)
            kept = spool.size + len(line) <= limit
            if kept:
                spool.append(line)
            else:
                self._losses.add(line)
        sender.wake()
        return kept

    def _start(self) -> tuple[Spool, Sender]:
        if self._spool is None or self._sender is None:
            destination = destination_of(self.settings)
            self._spool = Spool(new_path(destination.make_folder()))
            self._sender = Sender(self._spool, destination, self._losses)
            _close_at_exit(self)
        return self._spool, self._sender

    def _write(self, line: bytes) -> bool:
        with self._lock:
            self._emitted += 1
            if self.settings.transport == CONSOLE:
                sys.stdout.write(line.decode("utf-8") + "\n")
                sys.stdout.flush()
                return True
            with open(self.settings.path or "openlineage.jsonl", "ab") as file:
                file.write(line + b"\n")
            return True

    def _warn(self, what: str, error: Exception) -> None:
        kind = f"{what}: {type(error).__name__}"
        if kind not in self._warned:
            self._warned.add(kind)
            log.warning("%s: %s", kind, error)

    def _forget_parent(self) -> None:
        """In a forked child: the file, the thread and the counts are the parent's."""
        if self._spool is not None:
            self._spool.abandon()
        self._begin()


_outboxes: weakref.WeakSet[Outbox] = weakref.WeakSet()
_of_process: list[Outbox] = []


def process_outbox() -> Outbox:
    """The outbox of this process, by the environment's settings when it is first asked for."""
    if not _of_process:
        _of_process.append(Outbox(read_settings()))
    return _of_process[0]


def use_outbox(outbox: Outbox | None) -> None:
    """Make another outbox that of the process; None: that of the environment, read anew."""
    _of_process[:] = [outbox] if outbox is not None else []


def _close_at_exit(outbox: Outbox) -> None:
    atexit.register(outbox.close)
    if "multiprocessing.util" in sys.modules:  # its children end without atexit
        from multiprocessing.util import Finalize

        Finalize(None, outbox.close, exitpriority=10)


def _after_fork() -> None:
    for outbox in list(_outboxes):
        outbox._forget_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
