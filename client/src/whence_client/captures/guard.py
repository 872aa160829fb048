"""The guard around every hook body: no error and no lasting slowness reaches the job, and both are reported.

>>> guard = Guard("example")
>>> with guard("a hook"):
...     raise KeyError("x")
>>> guard.take_errors()
{'example: a hook': "KeyError: 'x'"}
"""

from __future__ import annotations

import logging
import time
from types import TracebackType
from typing import Any, Callable

log = logging.getLogger(__name__)

BUDGET_SECONDS = 0.05
_SLOW_CALLS, _QUICK_CALLS = 20, 4
"""A hook is switched off after this many calls over its budget. This many calls within the budget cancel one over it,
because on a busy machine some calls of every hook wait for the processor.
"""

Errors = dict[str, str]


class Guard:
    """The guard of one capture. `budget` is the time in seconds that a hook may take in the job's thread."""

    def __init__(self, capture: str, budget: float = BUDGET_SECONDS) -> None:
        self.capture, self.budget = capture, budget
        self.counts: dict[str, int] = {}
        """How often each kind of error occurred."""
        self._errors: Errors = {}
        self._slow: dict[str, float] = {}

    def __call__(self, what: str) -> Protection:
        """A context in which errors end: `with guard("read_csv"): ...`."""
        return Protection(self, what)

    def is_off(self, what: str) -> bool:
        """Whether the hook was switched off because it was too slow too often."""
        return self._slow.get(what, 0) >= _SLOW_CALLS

    def run(self, what: str, hook: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The hook's result; None if it failed or is switched off."""
        if self.is_off(what):
            return None
        with self(what):
            return hook(*args, **kwargs)
        return None

    def note(self, what: str, error: BaseException | str) -> None:
        """Count an error, log the first of its kind, and keep its message for the run."""
        message = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        kind = f"{what}: {message if isinstance(error, str) else type(error).__name__}"
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self._errors[f"{self.capture}: {what}"] = message[:500]
        if self.counts[kind] == 1:
            log.warning("lineage is incomplete (%s, %s): %s", self.capture, what, message)

    def note_time(self, what: str, seconds: float) -> None:
        """Count a hook that took longer than its budget."""
        slow = self._slow.get(what, 0)
        if seconds > self.budget:
            self._slow[what] = slow + 1
            if slow < _SLOW_CALLS <= slow + 1:
                limit = f"{self.budget * 1000:.0f} ms for {_SLOW_CALLS} times"
                self.note(what, f"it took more than {limit} and is switched off")
        elif 0 < slow < _SLOW_CALLS:
            self._slow[what] = max(0, slow - 1 / _QUICK_CALLS)

    def take_errors(self) -> Errors:
        """The messages since the last call, by capture and hook, for the facet `extractionError`."""
        errors, self._errors = self._errors, {}
        return errors


class Protection:
    """The context of one hook call. Only errors end here: an exit or an interrupt of the job goes on."""

    def __init__(self, guard: Guard, what: str) -> None:
        self._guard, self._what = guard, what
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception):
            self._guard.note(self._what, error)
        self._guard.note_time(self._what, time.perf_counter() - self._began)
        return error is None or isinstance(error, Exception)
