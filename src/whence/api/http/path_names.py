"""Names in paths, percent-encoded, so that a name may contain slashes, dots and colons."""

from typing import Annotated
from urllib.parse import unquote

from fastapi import Path, Query
from pydantic import AfterValidator
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whence.api.http.problems import problem
from whence.errors import EventError

_PREFIX = b"/api/"


MAX_BODY_BYTES = 1 << 20
"""The largest body that is not an event: names, descriptions, lists of columns."""


def routed_path(scope: Scope) -> str:
    """The path by which a request is routed; permissions are looked up by the same path.

    A trailing slash is removed from API paths: Marquez's web UI requests `/api/v1/lineage/` and `/api/v1/search/`.
    """
    raw: bytes = scope.get("raw_path") or b""
    if not raw.startswith(_PREFIX):
        return str(scope["path"])
    return raw.partition(b"?")[0].decode("latin-1").removesuffix("/")


class EncodedPaths:
    """ASGI middleware: API routes see the path as it was sent, and decode each segment themselves. It also limits their
    bodies.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "path": routed_path(scope)}
        if scope["type"] == "http" and _announced(scope) > MAX_BODY_BYTES:
            await problem(413, f"the body is larger than {MAX_BODY_BYTES} bytes")(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)


def _announced(scope: Scope) -> int:
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text) if text.isdigit() else 0


def _bounded(receive: Receive) -> Receive:
    """Limit a body without a length; FastAPI answers 400."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MAX_BODY_BYTES:
            raise EventError("", f"the body is larger than {MAX_BODY_BYTES} bytes", 413)
        return message

    return bounded


def _decode(segment: str) -> str:
    return _plain(unquote(segment))


def _plain(text: str) -> str:
    if "\0" in text:
        raise ValueError("a name must not contain U+0000")
    return text


Segment = Annotated[str, Path(description="percent-encoded"), AfterValidator(_decode)]
"""A name as one segment of a path."""

Plain = Annotated[str, AfterValidator(_plain)]
"""A text that a database accepts as a parameter."""

MOST = 1_000

Limit = Annotated[int, Query(ge=0, le=MOST, description="how many at most")]
Offset = Annotated[int, Query(ge=0, le=1_000_000_000, description="after so many")]
Depth = Annotated[int, Query(ge=0, le=1_000, description="hops")]
