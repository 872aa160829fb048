"""A small parent process: owns the socket, starts API and pipeline, restarts what dies, and ends all of it together.

`python -m whence.cli.supervise PLAN`, where PLAN is a `Plan` as JSON. Standard library only, so that it stays small.
Prints `ready URL after SECONDS s` once all children are ready, and what happens to them on stderr.
"""

import contextlib
import fcntl
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

from whence.cli.process_group import adopt_orphans, end_leftovers, is_group_alive, signal_group, spawn

_STDOUT, _STDERR = 1, 2
_GRACE_SECONDS = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
_LOG_BYTES = 10 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run, by name. In the arguments, `{fd}` becomes the number of the listening socket."""

    data: str
    host: str
    port: int
    children: dict[str, list[str]]
    tls: bool = False


@dataclass(slots=True, kw_only=True)
class Child:
    """A process to keep alive, as it is now."""

    name: str
    argv: list[str]
    process: "Popen[bytes] | None" = None
    group: int = 0
    """Its process group, which may outlive it; 0 if that is gone."""
    ready: bool = False
    failures: int = 0
    """Deaths in a row before it was ready."""
    detail: str = "is starting"
    start_at: float = 0.0

    @property
    def is_gone(self) -> bool:
        """Neither it nor any descendant is left."""
        return self.process is None and self.group == 0


class Supervisor:
    """Runs a plan until SIGTERM or SIGINT. The caller holds the run directory's lock and has bound the socket."""

    def __init__(self, plan: Plan, run: Path, listening: socket.socket) -> None:
        host, port = listening.getsockname()[:2]
        scheme = "https" if plan.tls else "http"
        self._url = f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
        self._data = plan.data
        self._run = run
        self._listening = listening
        self._children = [Child(name=name, argv=argv) for name, argv in plan.children.items()]
        self._selector = selectors.DefaultSelector()
        self._began = time.monotonic()
        self._announced = False
        self._state = ""
        self._kill_at = 0.0
        """When what still runs is killed; 0 unless stopping."""

    def run(self) -> None:
        """Keep the children alive; returns when all have ended after a signal."""
        adopt_orphans()
        with _wakeups(self._selector):
            while not (self._kill_at and all(child.is_gone for child in self._children)):
                self._start_due()
                self._write_state()
                for key, _ in self._selector.select(self._pause()):
                    self._on_event(key)
                self._reap()
                if self._kill_at and time.monotonic() >= self._kill_at:
                    self._signal_all(signal.SIGKILL)
        (self._run / "whence.json").unlink(missing_ok=True)

    def _start_due(self) -> None:
        for child in self._children:
            if not self._kill_at and child.is_gone and time.monotonic() >= child.start_at:
                self._start(child)

    def _start(self, child: Child) -> None:
        argv = [part.replace("{fd}", str(self._listening.fileno())) for part in child.argv]
        log = self._run / f"{child.name}.log"
        if log.exists() and log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        scratch = self._run / "tmp" / child.name
        fd = self._listening.fileno()
        child.process = process = spawn(argv, mark=self._data, fd=fd, log=log, scratch=scratch)
        child.group = process.pid
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, child)

    def _pause(self) -> float | None:
        """Seconds until there is something to do without an event; None if there is nothing."""
        if self._kill_at:
            return max(0.0, min(0.5, self._kill_at - time.monotonic()))
        waiting = [child for child in self._children if child.process is None]
        # What is left of a group may be another's to wait for, on systems that cannot adopt orphans: look again.
        times = [child.start_at - time.monotonic() if child.group == 0 else 0.1 for child in waiting]
        return max(0.0, min(times)) if times else None

    def _on_event(self, key: selectors.SelectorKey) -> None:
        if isinstance(key.data, Child):
            self._on_output(key.data)
            return
        for number in os.read(key.fd, 4096):
            if number in (signal.SIGTERM, signal.SIGINT):
                self._stop()

    def _stop(self) -> None:
        """Ask all to end; the second time, see to it."""
        self._kill_at, is_first = time.monotonic() + (0 if self._kill_at else _GRACE_SECONDS), not self._kill_at
        for child in self._children:
            # Not Popen.terminate, which may wait for the process behind the back of `_reap`.
            if child.process and is_first:
                os.kill(child.process.pid, signal.SIGTERM)

    def _on_output(self, child: Child) -> None:
        assert child.process is not None
        assert child.process.stdout is not None
        said = os.read(child.process.stdout.fileno(), 4096)
        if not said:
            self._selector.unregister(child.process.stdout)
        if b"ready" in said.split():
            child.ready, child.failures, child.detail = True, 0, "runs"
            self._announce()

    def _announce(self) -> None:
        if not self._announced and all(child.ready for child in self._children):
            self._announced = True
            _say(_STDOUT, f"ready {self._url} after {time.monotonic() - self._began:.1f} s")

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                for child in self._children:
                    if child.process and child.process.pid == pid:
                        self._on_death(child, child.process, os.waitstatus_to_exitcode(status))
        for child in self._children:
            if child.process is None and child.group and not is_group_alive(child.group):
                child.group = 0

    def _on_death(self, child: Child, process: "Popen[bytes]", code: int) -> None:
        process.returncode = code
        assert process.stdout is not None
        with contextlib.suppress(KeyError):
            self._selector.unregister(process.stdout)
        process.stdout.close()
        child.process = None
        if self._kill_at:
            return
        signal_group(child.group, signal.SIGKILL)
        child.failures = 0 if child.ready else child.failures + 1
        pause = min(_FIRST_PAUSE * 2**child.failures, _LONGEST_PAUSE)
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        child.ready, child.detail = False, f"{how}, starts again in {pause:.1f} s"
        child.start_at = time.monotonic() + pause
        _say(_STDERR, f"the {child.name} {child.detail}; see {self._run / child.name}.log")

    def _signal_all(self, number: signal.Signals) -> None:
        for child in self._children:
            if child.group:
                signal_group(child.group, number)

    def _write_state(self) -> None:
        state: dict[str, object] = {"pid": os.getpid(), "url": self._url, "data": self._data}
        state["ready"] = all(child.ready for child in self._children)
        for child in self._children:
            pid = child.process.pid if child.process else None
            state[child.name] = {"pid": pid, "ready": child.ready, "detail": child.detail}
        text = json.dumps(state, indent=1) + "\n"
        if text != self._state:
            self._state = text
            fresh = self._run / "whence.json.new"
            fresh.write_text(text, "utf-8")
            fresh.replace(self._run / "whence.json")


@contextlib.contextmanager
def _wakeups(selector: selectors.BaseSelector) -> Iterator[None]:
    """Signals wake the selector, by the read end of a pipe."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    selector.register(reading, selectors.EVENT_READ)
    signal.set_wakeup_fd(writing)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    yield
    signal.set_wakeup_fd(-1)
    selector.close()
    os.close(reading)
    os.close(writing)


def supervise(plan: Plan) -> int:
    """Run the plan. Returns the exit code: 0 after a clean end, 1 if the data directory or the port is taken."""
    run = Path(plan.data) / "run"
    run.mkdir(parents=True, exist_ok=True, mode=0o750)
    with (run / "LOCK").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(_STDERR, f"another whence runs on {plan.data}: stop it, or choose another directory with --data")
            return 1
        try:
            family = socket.AF_INET6 if ":" in plan.host else socket.AF_INET
            listening = socket.create_server((plan.host, plan.port), family=family, backlog=1024)
        except OSError as error:
            _say(_STDERR, f"cannot listen on {plan.host} port {plan.port}: {error.strerror}; choose another --port")
            return 1
        with listening:
            end_leftovers(plan.data)
            Supervisor(plan, run, listening).run()
            # Spark's Python daemons have groups of their own, and end a moment after their JVM.
            end_leftovers(plan.data)
    return 0


def _say(fd: int, text: str) -> None:
    # Whoever reads may have gone; that is no reason to stop.
    with contextlib.suppress(BrokenPipeError):
        os.write(fd, f"{text}\n".encode())


if __name__ == "__main__":
    sys.exit(supervise(Plan(**json.loads(sys.argv[1]))))
