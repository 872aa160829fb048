"""The one shape of error responses: problem JSON (RFC 9457) with `reason`, `pointer` and `position`."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from whence.errors import (
    AccessError,
    AmbiguousNodeError,
    CursorError,
    EventError,
    LogBusyError,
    LogError,
    NodeNotFoundError,
    NotYetError,
    QuestionError,
    QuestionsBusyError,
    RateLimitError,
    StoreError,
    ThingNotFoundError,
)

MEDIA_TYPE = "application/problem+json"
BUSY_SECONDS = 1
BROKEN_SECONDS = 5


def problem(
    status: int,
    reason: str,
    *,
    pointer: str = "",
    position: str | None = None,
    candidates: Sequence[str] | None = None,
    headers: Mapping[str, str] | None = None,
    also: Mapping[str, object] | None = None,
) -> Response:
    """Build an error response. `pointer` points into the request (RFC 6901), `position` to the body in quarantine.

    `candidates`: node ids for a name that matches no node, or several. `also`: further members, such as that `name`, or
    those that other clients read.
    """
    body: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": f"{pointer}: {reason}" if pointer else reason,
        "reason": reason,
        "pointer": pointer,
        "position": position,
        **(also or {}),
    }
    if candidates is not None:
        body["candidates"] = list(candidates)
    return Response(msgspec.json.encode(body), status, headers, MEDIA_TYPE)


def unavailable(error: LogError | RateLimitError | StoreError) -> Response:
    """503 with Retry-After: OpenLineage clients retry on it, and not on 429."""
    match error:
        case RateLimitError(seconds=seconds):
            pass
        case LogBusyError() | QuestionsBusyError() | NotYetError():
            seconds = BUSY_SECONDS
        case _:
            seconds = BROKEN_SECONDS
    return problem(503, str(error), headers={"Retry-After": str(seconds)})


def install(app: FastAPI) -> None:
    """Give every error of a route or of routing the one shape."""
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(AccessError, _on_access)
    app.add_exception_handler(EventError, _on_event)
    app.add_exception_handler(NodeNotFoundError, _on_unknown)
    app.add_exception_handler(QuestionError, _on_question)
    app.add_exception_handler(AmbiguousNodeError, _on_ambiguous)
    app.add_exception_handler(CursorError, _on_cursor)
    app.add_exception_handler(ThingNotFoundError, _on_missing)
    app.add_exception_handler(LogError, _on_unavailable)
    app.add_exception_handler(RateLimitError, _on_unavailable)
    app.add_exception_handler(StoreError, _on_unavailable)
    app.add_exception_handler(Exception, _on_bug)


def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    also = _marquez(request, error.status_code, error.detail)
    return problem(error.status_code, error.detail, headers=error.headers, also=also)


def _on_missing(request: Request, error: Exception) -> Response:
    return problem(404, str(error), also=_marquez(request, 404, str(error)))


def _on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    status = 400 if first["type"] == "json_invalid" else 422
    pointer = "/" + "/".join(str(part) for part in first["loc"])
    return problem(status, first["msg"], pointer=pointer, also=_marquez(request, status, first["msg"]))


_REFUSAL_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}


def refused(error: AccessError) -> Response:
    """Build the response to an AccessError: 401, 403 or 503."""
    return problem(error.status, error.reason, headers=_REFUSAL_HEADERS.get(error.status))


def _on_access(_: Request, error: Exception) -> Response:
    assert isinstance(error, AccessError)
    return refused(error)


def _on_event(request: Request, error: Exception) -> Response:
    assert isinstance(error, EventError)
    also = _marquez(request, error.status, error.reason)
    return problem(error.status, error.reason, pointer=error.pointer, also=also)


def _marquez(request: Request, status: int, reason: str) -> Mapping[str, object]:
    """The members that Marquez clients read in an error."""
    return {"code": status, "message": reason} if request.url.path.startswith("/api/v1/") else {}


def _on_unknown(_: Request, error: Exception) -> Response:
    assert isinstance(error, NodeNotFoundError)
    return problem(404, str(error), candidates=error.nearest, also={"name": error.name})


def _on_ambiguous(_: Request, error: Exception) -> Response:
    assert isinstance(error, AmbiguousNodeError)
    reason = f"{error.name!r} fits {len(error.candidates)} nodes; say which one"
    return problem(422, reason, candidates=error.candidates, also={"name": error.name})


def _on_question(_: Request, error: Exception) -> Response:
    assert isinstance(error, QuestionError)
    return problem(422, error.reason, pointer=f"/query/{error.parameter}")


def _on_cursor(_: Request, error: Exception) -> Response:
    return problem(400, str(error), pointer="/query/cursor")


def _on_unavailable(_: Request, error: Exception) -> Response:
    assert isinstance(error, LogError | RateLimitError | StoreError)
    return unavailable(error)


def _on_bug(_: Request, error: Exception) -> Response:
    return problem(500, f"a fault in Whence itself ({type(error).__name__}); its log has the details")
