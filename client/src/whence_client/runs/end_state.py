"""How a run ended, by the exception that ended it."""

from __future__ import annotations

import sys
import traceback
from typing import Any

from whence_client.events.facets import Facet
from whence_client.events.runs import ABORT, COMPLETE, FAIL, error_facet

_STACK_CHARACTERS = 20_000


class ReportedError(Exception):
    """A failure whose reason another process has reported on the same run."""


def state_of(error: BaseException | None) -> str:
    """COMPLETE, FAIL or ABORT. An exit with code 0 is a completion; what somebody stopped is aborted."""
    if error is None:
        return COMPLETE
    if isinstance(error, SystemExit):
        return COMPLETE if error.code in (None, 0, False) else FAIL
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)) or _is_cancelled(error):
        return ABORT
    return FAIL


def error_facets(error: BaseException | None) -> dict[str, Facet]:
    """The facet `errorMessage` of a run that did not complete, with the stack of the job's own code."""
    if error is None or isinstance(error, ReportedError) or state_of(error) == COMPLETE:
        return {}
    if isinstance(error, SystemExit):
        return {"errorMessage": error_facet(f"the process ended with {error.code!r}")}
    try:
        message = f"{type(error).__name__}: {error}"
    except Exception:  # an exception may fail at its own text
        message = type(error).__name__
    return {"errorMessage": error_facet(message, _stack(error))}


def _stack(error: BaseException) -> str:
    text = "".join(traceback.format_exception(type(error), error, _own_frames(error.__traceback__)))
    return text if len(text) <= _STACK_CHARACTERS else "…" + text[-_STACK_CHARACTERS:]


def _own_frames(trace: Any) -> Any:
    """The traceback without the frames of this package at its beginning."""
    first = trace
    while trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).startswith("whence_client"):
        trace = trace.tb_next
    return trace or first


def _is_cancelled(error: BaseException) -> bool:
    asyncio = sys.modules.get("asyncio")  # who was cancelled has imported it
    return asyncio is not None and isinstance(error, asyncio.CancelledError)
