"""A request id, for log lines and for the response."""

import re
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whence.diagnostics import request_id

HEADER = "X-Request-ID"
_GIVEN = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class Requests:
    """ASGI middleware: uses the id of a proxy, or creates one; the response contains it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        id_ = given if _GIVEN.fullmatch(given) else uuid4().hex
        # Not reset: a request is a task with its own context, and the server logs errors later.
        request_id.set(id_)

        async def say(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = id_
            await send(message)

        await self._app(scope, receive, say)
