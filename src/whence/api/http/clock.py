"""The clock of an application, for answers that depend on the time. A test can fix it."""

import time
from collections.abc import Callable
from typing import cast

from starlette.requests import Request

Clock = Callable[[], int]
"""The time now, in microseconds UTC."""


def system_clock() -> int:
    """The clock of this machine."""
    return time.time_ns() // 1_000


def now_of(request: Request) -> int:
    """The time now by the clock of the application that answers, in microseconds UTC."""
    return cast(Clock, request.app.state.clock)()
