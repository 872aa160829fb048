"""Restarts of a supervised process: the steps and time limits of its start, and when the next start is due."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from subprocess import Popen

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
_SPACE_PAUSE = 2.0
"""The pause before another attempt to start a process that could not be started; such an attempt is cheap."""
_MOST_DOUBLINGS = 4


@dataclass(slots=True)
class Child:
    """A supervised process and its current state."""

    name: str
    argv: list[str]
    patience: float
    """The time limit for one step of its start (s). It doubles with each consecutive start that took too long."""
    process: "Popen[bytes] | None" = None
    group: int = 0
    """Its process group, which may outlive it; 0 after its end."""
    ready: bool = False
    failures: int = 0
    """Consecutive starts that ended before it was ready."""
    late_starts: int = 0
    """Those of them that were ended because a step took too long."""
    detail: str = "is starting"
    start_at: float = 0.0
    """When the next start is due."""
    step_ends: float = inf
    """The deadline of the current step of its start."""
    is_late: bool = False
    """Whether it is being killed, because a step of its start took too long."""
    _began: str = ""
    _start: str = ""
    _ended: str = ""
    """How the last start ended, if it ended before the process was ready."""
    _lacks: str = ""
    """Why it could not be started the last time; empty if it could."""

    @property
    def due(self) -> float:
        """When the supervisor must check it again; infinity if nothing is due."""
        if self.process:
            return self.step_ends
        # Its group may be waited for by another process, where orphans cannot be adopted: check again.
        return time.monotonic() + 0.1 if self.group else self.start_at

    @property
    def is_gone(self) -> bool:
        """Whether neither it nor any descendant is left."""
        return self.process is None and self.group == 0

    def begin(self) -> None:
        """Record the begin of a start."""
        self._began, self._lacks = datetime.now(UTC).isoformat(timespec="seconds"), ""
        self._begin_step("", self._step_seconds)

    def on_line(self, line: str) -> str:
        """Process a line of its stdout: `ready`, `step WHAT` or `long-step WHAT`. Returns what it began or is now."""
        word, _, what = line.partition(" ")
        if word == "ready":
            self.ready, self.detail, self.step_ends = True, "runs", inf
            self.failures = self.late_starts = 0
            return "is ready"
        if word in ("step", "long-step") and not self.ready:
            self._begin_step(f": {what}", self._step_seconds if word == "step" else inf)
            return what
        return ""

    def wait_for_restart(self, how: str) -> None:
        """Record how the process ended, and when the next start is due."""
        if self.is_late:
            how = f"was killed, for it took more than {self._step_seconds:g} s ({self._start})"
            self.late_starts = min(self.late_starts + 1, _MOST_DOUBLINGS)
        self.failures = 0 if self.ready else self.failures + 1
        self._wait(how, min(_FIRST_PAUSE * 2.0 ** min(self.failures, 10), _LONGEST_PAUSE))

    def wait_for_space(self, why: str) -> bool:
        """Record why it could not be started, and when to try again. Returns whether it is the first time in a row."""
        is_first, self._lacks = why != self._lacks, why
        self._wait(f"cannot be started: {why}", _SPACE_PAUSE)
        return is_first

    def _wait(self, how: str, pause: float) -> None:
        self._ended = "" if self.ready else f"; the last start {how}"
        self.ready, self.detail = False, f"{how}, starts again in {pause:.1f} s"
        self.start_at, self.step_ends, self.is_late = time.monotonic() + pause, inf, False

    @property
    def _step_seconds(self) -> float:
        return self.patience * 2.0**self.late_starts

    def _begin_step(self, what: str, seconds: float) -> None:
        self._start = f"is starting since {self._began}{what}"
        self.detail = self._start + self._ended
        self.step_ends = time.monotonic() + seconds
