"""The supervisor: owns the socket, starts API and pipeline, restarts them when they die, and ends them together.

`python -m whence.cli.process.supervisor PLAN`, where PLAN is a `Plan` as JSON. It imports few modules, to stay small.
URLs may contain passwords, so they are in the environment: everybody on a machine can read arguments. It prints `ready
URL after SECONDS s` once all children are ready, and their failures on stderr.

A child reports on stdout, one line each: `ready` when it serves; before that `step WHAT` for each step of its start,
and `long-step WHAT` for one without a time limit. A child whose step takes too long is killed and started again.
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
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from subprocess import Popen

from whence.cli.process.log_files import rotate_log
from whence.cli.process.process_group import adopt_orphans, end_leftovers, is_group_alive, signal_group, spawn
from whence.cli.process.restarts import Child
from whence.file_modes import restrict_directory, restrict_new_files

_STDOUT, _STDERR = 1, 2
_GRACE_SECONDS = 10.0
_STATE_PAUSE = 1.0
"""The pause before another attempt to write the state file."""
_LOG_PAUSE = 60.0
"""The pause between two looks at the sizes of the logs (s)."""
_PROBE_BYTES = 4 << 20
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The processes to run, by name. In the arguments, `{fd}` becomes the number of the listening socket."""

    data: str
    host: str
    port: int
    children: dict[str, list[str]]
    environment: dict[str, str] = field(default_factory=dict, repr=False)
    """The environment of the supervisor and its children; not in its arguments, since it may contain passwords."""
    tls: bool = False
    patience: float = 120.0
    """The time limit for one step of a child's start (s). It doubles with each consecutive start that took too long."""
    reports_steps: bool = False
    """Whether the steps of the first start are reported on stderr: for a person who waits."""
    need_space: tuple[str, ...] = ()
    """Children that are started only when a file can be written to the data directory."""


class Supervisor:
    """Runs a plan until SIGTERM or SIGINT. The caller holds the run directory's lock and has bound the socket."""

    def __init__(self, plan: Plan, run: Path, listening: socket.socket) -> None:
        host, port = listening.getsockname()[:2]
        scheme = "https" if plan.tls else "http"
        self._url = f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
        self._data = plan.data
        self._run = run
        self._listening = listening
        self._plan = plan
        self._children = [Child(name, argv, plan.patience) for name, argv in plan.children.items()]
        self._selector = selectors.DefaultSelector()
        self._began = time.monotonic()
        self._announced = False
        self._state = ""
        self._write_state_at = 0.0
        self._rotate_logs_at = self._began + _LOG_PAUSE
        self._kill_at = 0.0
        """When remaining processes are killed; 0 unless stopping."""

    def run(self) -> None:
        """Keep the children alive; returns when all have ended after a signal."""
        adopt_orphans()
        self._report(f"starting {' and '.join(self._plan.children)}; the data is in {self._data}")
        with _wakeups(self._selector):
            while not (self._kill_at and all(child.is_gone for child in self._children)):
                self._start_due()
                self._write_state()
                self._rotate_logs()
                for key, _ in self._selector.select(self._pause()):
                    self._on_event(key)
                self._reap()
                self._end_late()
                if self._kill_at and time.monotonic() >= self._kill_at:
                    self._signal_all(signal.SIGKILL)
        with contextlib.suppress(OSError):
            (self._run / "whence.json").unlink()

    def _start_due(self) -> None:
        for child in self._children:
            if not self._kill_at and child.is_gone and time.monotonic() >= child.start_at:
                try:
                    self._start(child)
                except OSError as error:
                    if child.wait_for_space(error.strerror or str(error)):
                        self._say_state(child)

    def _start(self, child: Child) -> None:
        """Start a child. Raises OSError, for example on a full disk."""
        if child.name in self._plan.need_space:
            probe_space(self._run / f"{child.name}.probe")
        argv = [part.replace("{fd}", str(self._listening.fileno())) for part in child.argv]
        log = self._log(child)
        rotate_log(log)
        scratch = self._run / "tmp" / child.name
        fd = self._listening.fileno()
        child.process = process = spawn(
            argv, mark=self._data, fd=fd, log=log, scratch=scratch, attempt=child.late_starts + 1
        )
        child.group = process.pid
        child.begin()
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, child)

    def _end_late(self) -> None:
        """Kill the children that exceeded the time limit of a step."""
        for child in self._children:
            if child.process and time.monotonic() >= child.step_ends:
                child.step_ends, child.is_late = inf, True
                signal_group(child.group, signal.SIGKILL)

    def _log(self, child: Child) -> Path:
        return self._run / f"{child.name}.log"

    def _rotate_logs(self) -> None:
        if time.monotonic() >= self._rotate_logs_at:
            self._rotate_logs_at = time.monotonic() + _LOG_PAUSE
            for child in self._children:
                rotate_log(self._log(child))

    def _pause(self) -> float:
        """Seconds until the next scheduled task."""
        if self._kill_at:
            return max(0.0, min(0.5, self._kill_at - time.monotonic()))
        soonest = min(*(child.due for child in self._children), self._write_state_at or inf, self._rotate_logs_at)
        return max(0.0, soonest - time.monotonic())

    def _on_event(self, key: selectors.SelectorKey) -> None:
        if isinstance(key.data, Child):
            self._on_output(key.data)
            return
        for number in os.read(key.fd, 4096):
            if number in _ENDING:
                if number == signal.SIGINT and not self._kill_at:
                    _say(_STDERR, f"stopping; the data stays in {self._data} (Ctrl-C again to stop at once)")
                self._stop()

    def _stop(self) -> None:
        """Ask all children to end; at the second signal, kill them."""
        self._kill_at, is_first = time.monotonic() + (0 if self._kill_at else _GRACE_SECONDS), not self._kill_at
        for child in self._children:
            # Not Popen.terminate, which may wait for the process without `_reap` noticing.
            if child.process and is_first:
                os.kill(child.process.pid, signal.SIGTERM)

    def _on_output(self, child: Child) -> None:
        assert child.process is not None
        assert child.process.stdout is not None
        output = os.read(child.process.stdout.fileno(), 4096)
        if not output:
            self._selector.unregister(child.process.stdout)
        for line in output.decode("utf-8", "replace").splitlines():
            if step := child.on_line(line):
                self._report(f"the {child.name} {step}")
        self._announce()

    def _report(self, text: str) -> None:
        """Report a step of the first start."""
        if self._plan.reports_steps and not self._announced:
            _say(_STDERR, text)

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
        self._on_end(
            child, f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        )

    def _on_end(self, child: Child, how: str) -> None:
        child.wait_for_restart(how)
        self._say_state(child)

    def _say_state(self, child: Child) -> None:
        _say(_STDERR, f"the {child.name} {child.detail}; see {self._log(child)}")

    def _signal_all(self, number: signal.Signals) -> None:
        for child in self._children:
            if child.group:
                signal_group(child.group, number)

    def _write_state(self) -> None:
        """Write the state file if the state changed. Nothing depends on it, so a failed write is repeated later."""
        if time.monotonic() < self._write_state_at:
            return
        state: dict[str, object] = {"pid": os.getpid(), "url": self._url, "data": self._data}
        state["ready"] = all(child.ready for child in self._children)
        for child in self._children:
            pid = child.process.pid if child.process else None
            state[child.name] = {"pid": pid, "ready": child.ready, "detail": child.detail}
        text = json.dumps(state, indent=1) + "\n"
        self._write_state_at = 0.0
        if text == self._state:
            return
        fresh = self._run / "whence.json.new"
        try:
            fresh.write_text(text, "utf-8")
            fresh.replace(self._run / "whence.json")
        except OSError:
            self._write_state_at = time.monotonic() + _STATE_PAUSE
        else:
            self._state = text


@contextlib.contextmanager
def _wakeups(selector: selectors.BaseSelector) -> Iterator[None]:
    """Wake the selector on signals, by the read end of a pipe."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    selector.register(reading, selectors.EVENT_READ)
    signal.set_wakeup_fd(writing)
    for number in (*_ENDING, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    yield
    signal.set_wakeup_fd(-1)
    selector.close()
    os.close(reading)
    os.close(writing)


def probe_space(path: Path) -> None:
    """Write a file and delete it again. Raises OSError if there is no space for it."""
    try:
        path.write_bytes(bytes(_PROBE_BYTES))
    finally:
        path.unlink(missing_ok=True)


def supervise(plan: Plan) -> int:
    """Run the plan. Returns the exit code: 0 after a clean end, 1 if the data directory or the port is taken."""
    restrict_new_files()
    run = Path(plan.data) / "run"
    try:
        run.mkdir(parents=True, exist_ok=True, mode=0o750)
        lock_file = (run / "LOCK").open("w")
        for path in restrict_directory(Path(plan.data)):
            _say(_STDERR, f"others may read {path}: let its owner take that right (chmod g-w,o-rwx)")
    except OSError as error:
        _say(_STDERR, f"cannot use {plan.data}: {error.strerror}; free some space, or choose another --data")
        return 1
    with lock_file as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(_STDERR, f"another whence runs on {plan.data}: stop it, or choose another directory with --data")
            return 1
        end_leftovers(plan.data)  # one of a killed supervisor may still hold the port
        try:
            family = socket.AF_INET6 if ":" in plan.host else socket.AF_INET
            listening = socket.create_server((plan.host, plan.port), family=family, backlog=1024)
        except OSError as error:
            _say(_STDERR, f"cannot listen on {plan.host} port {plan.port}: {error.strerror}; choose another --port")
            return 1
        with listening:
            Supervisor(plan, run, listening).run()
            # Spark's Python daemons have groups of their own, and end shortly after their JVM.
            end_leftovers(plan.data)
    return 0


def _say(fd: int, text: str) -> None:
    # The reader may be gone, or its disk full; that is no reason to stop.
    with contextlib.suppress(OSError):
        os.write(fd, f"{text}\n".encode())


if __name__ == "__main__":
    sys.exit(supervise(Plan(**json.loads(sys.argv[1]))))
