"""Serves the API on a socket, with uvicorn."""

import asyncio
import gc
import ipaddress
import logging
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

import uvicorn

from whence.api.http.request_ids import Requests
from whence.api.server.app import create_app
from whence.api.server.connections import BoundedHttp, ConnectionBounds, Connections, most_connections
from whence.api.settings import Settings
from whence.diagnostics import is_json_log, log_to_stderr
from whence.errors import AccessError
from whence.tracing import is_traced, send_traces

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor


def serve(settings: Settings, listening: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT. Prints `ready` to stdout when it accepts requests.

    Raises AccessError if it would run open on a reachable address, WhenceError if a setting is wrong.
    """
    host = listening.getsockname()[0]
    if settings.open and not ipaddress.ip_address(host).is_loopback:
        raise AccessError(f"without API keys Whence serves only loopback addresses, not {host}: remove --open")
    log_to_stderr(logging.INFO)
    end_traces = send_traces("whence-api", _nameless) if is_traced() else None
    app = create_app(settings)
    config = uvicorn.Config(
        Requests(app) if is_json_log() else app,
        http=cast("type[asyncio.Protocol]", partial(BoundedHttp, Connections(_bounds(settings)))),
        loop="uvloop",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
    )
    # A large answer is many objects without cycles; repeated cycle collection took a fifth of its time.
    gc.set_threshold(200_000, 20, 100)
    _AnnouncedServer(config, app.state.streams.close, end_traces).run(sockets=[listening])


def _bounds(settings: Settings) -> ConnectionBounds:
    return ConnectionBounds(
        head_seconds=settings.head_seconds,
        body_seconds=settings.body_seconds,
        per_peer=settings.peer_connections,
        total=most_connections(),
    )


def _nameless() -> "SpanProcessor":
    from whence.api.server.trace_privacy import TracePrivacy  # needs the extra

    return TracePrivacy()


class _AnnouncedServer(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, end_streams: Callable[[], None], end_traces: Callable[[], None] | None
    ) -> None:
        super().__init__(config)
        self._end_streams = end_streams
        self._end_traces = end_traces

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            sys.stdout.write("ready\n")
            sys.stdout.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()  # uvicorn waits for answers, and these would last
        await super().shutdown(sockets)
        if self._end_traces:
            self._end_traces()  # the signal that stops the server then ends the process without exit hooks
