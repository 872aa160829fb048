"""The one shape of every error answer: problem JSON (RFC 9457) with `reason`, `pointer` and `position`."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from whence.errors import EventError, LogBusyError, LogError, RateLimitError, StoreError

MEDIA_TYPE = "application/problem+json"
BUSY_SECONDS = 1
BROKEN_SECONDS = 5


def problem(
    status: int,
    reason: str,
    *,
    pointer: str = "",
    position: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error answer. `pointer` points into the request (RFC 6901), `position` to the body in quarantine."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": f"{pointer}: {reason}" if pointer else reason,
        "reason": reason,
        "pointer": pointer,
        "position": position,
    }
    return Response(msgspec.json.encode(body), status, headers, MEDIA_TYPE)


def unavailable(error: LogError | RateLimitError | StoreError) -> Response:
    """503 with Retry-After: OpenLineage clients retry on it, and not on 429."""
    match error:
        case RateLimitError(seconds=seconds):
            pass
        case LogBusyError():
            seconds = BUSY_SECONDS
        case _:
            seconds = BROKEN_SECONDS
    return problem(503, str(error), headers={"Retry-After": str(seconds)})


def install(app: FastAPI) -> None:
    """Give every error that leaves a route, or finds none, the one shape."""
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(EventError, _on_event)
    app.add_exception_handler(LogError, _on_unavailable)
    app.add_exception_handler(RateLimitError, _on_unavailable)
    app.add_exception_handler(StoreError, _on_unavailable)
    app.add_exception_handler(Exception, _on_bug)


def _on_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(error.status_code, error.detail, headers=error.headers)


def _on_validation(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return problem(422, first["msg"], pointer="/" + "/".join(str(part) for part in first["loc"]))


def _on_event(_: Request, error: Exception) -> Response:
    assert isinstance(error, EventError)
    return problem(error.status, error.reason, pointer=error.pointer)


def _on_unavailable(_: Request, error: Exception) -> Response:
    assert isinstance(error, LogError | RateLimitError | StoreError)
    return unavailable(error)


def _on_bug(_: Request, error: Exception) -> Response:
    return problem(500, f"a fault in Whence itself ({type(error).__name__}); its log has the details")
