"""The fast path: events go directly to the collector, without FastAPI's routing, which costs more than
everything else.
"""

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from whence.api.collector.collect import Collector
from whence.errors import LogError, RateLimitError

PATHS = ("/api/v1/lineage", "/lineage")
"""The path to which OpenLineage clients post one event; a batch goes to `/batch` below it."""


class FastPath:
    """ASGI middleware. The application has the same routes, for its documentation and for other methods."""

    def __init__(self, app: ASGIApp, collector: Collector) -> None:
        self._app = app
        self._collector = collector
        self._answers = dict.fromkeys(PATHS, collector.one) | {f"{path}/batch": collector.batch for path in PATHS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answers.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if answer is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await answer(Request(scope, receive))
        except (LogError, RateLimitError) as error:
            response = self._collector.unavailable(error)
        except ClientDisconnect:
            return
        await response(scope, receive, send)
