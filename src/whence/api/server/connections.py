"""HTTP connections with limits: deadlines for heads and bodies, connections per peer, no protocol upgrades."""

import asyncio
import resource
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from whence.api.http.rate_limits import network_of

_GRACE, _GRACE_SECONDS = 1.1, 1.0
"""The collector rejects a slow body first and quarantines the part it has. The connection ends a little later."""
_RESERVED_DESCRIPTORS = 64
_LEAST_CONNECTIONS = 16
_UPGRADING = frozenset({b"upgrade", b"http2-settings"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionBounds:
    """The time limits for a request's head and body, and the most connections of a peer."""

    head_seconds: float
    body_seconds: float
    per_peer: int
    """0: no limit."""
    total: int


def most_connections() -> int:
    """The number of connections that fit into three quarters of the process's file descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(_LEAST_CONNECTIONS, soft * 3 // 4 - _RESERVED_DESCRIPTORS)


class Phase(Enum):
    """What a connection waits for: a request, the rest of a head, the rest of a body, the answer."""

    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    ANSWER = "answer"


@dataclass(slots=True)
class Connections:
    """The open connections of one server, oldest first, in total and by peer. For one event loop."""

    bounds: ConnectionBounds
    _all: "dict[BoundedHttp, None]" = field(default_factory=dict)
    _by_peer: "dict[str, dict[BoundedHttp, None]]" = field(default_factory=dict)

    def admit(self, connection: "BoundedHttp", peer: str) -> None:
        """Add a new connection. Over a limit, the oldest one that waits for its peer is closed, so abandoned
        connections never keep others out.
        """
        of_peer = self._by_peer.setdefault(peer, {})
        self._all[connection] = of_peer[connection] = None
        if self.bounds.per_peer and len(of_peer) > self.bounds.per_peer:
            self._end_oldest(of_peer)
        elif len(self._all) > self.bounds.total:
            self._end_oldest(self._all)

    def release(self, connection: "BoundedHttp", peer: str) -> None:
        """Remove a closed connection."""
        self._all.pop(connection, None)
        of_peer = self._by_peer.get(peer, {})
        of_peer.pop(connection, None)
        if not of_peer:
            self._by_peer.pop(peer, None)

    def _end_oldest(self, some: "dict[BoundedHttp, None]") -> None:
        oldest = next((one for one in some if one.phase is not Phase.ANSWER), None)
        if oldest is not None:
            self.release(oldest, oldest.peer)
            oldest.transport.abort()


class JoinedWrites:
    """The transport of one answer. It writes an answer's head together with the beginning of its body, if one of a
    known length follows: uvicorn would make two system calls, and most often two packets, of them.
    """

    __slots__ = ("_cycle", "_has_begun", "_head", "_transport")

    def __init__(self, transport: asyncio.Transport, cycle: RequestResponseCycle) -> None:
        self._transport, self._cycle = transport, cycle
        self._head = b""
        self._has_begun = False

    def write(self, data: bytes) -> None:
        """Write data, or keep it if it is the head."""
        if self._head:
            self._transport.writelines((self._head, data))
            self._head = b""
        elif self._has_begun or not self._is_before_body():
            self._transport.write(data)
        else:
            self._head = data
        self._has_begun = self._cycle.response_started  # before that it is `100 Continue`

    def close(self) -> None:
        """Close the connection, after a head without its body."""
        if self._head:
            self._transport.write(self._head)
            self._head = b""
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether the connection is closing."""
        return self._transport.is_closing()

    def _is_before_body(self) -> bool:
        cycle = self._cycle
        return cycle.response_started and cycle.expected_content_length > 0 and cycle.scope["method"] != "HEAD"


class BoundedHttp(HttpToolsProtocol):
    """One connection. Its deadlines become timers of the event loop only if a request arrives in several pieces."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._connections = connections
        self._deadline: asyncio.TimerHandle | None = None
        self._is_upgrading = False
        self.phase = Phase.HEAD
        self.peer = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        self.peer = network_of(host) or host
        self._connections.admit(self, self.peer)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self.phase = Phase.IDLE
        self._cancel_deadline()
        self._connections.release(self, self.peer)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data. An upgrade offer is declined by parsing the same request without it (RFC 9110, 7.8), since the
        parser stops there and would treat the body as bytes of another protocol.
        """
        self._unset_keepalive_if_required()
        if self.phase is Phase.IDLE:
            self.phase = Phase.HEAD
        rest = self._parse(data)
        while rest is not None:
            rest = self._parse(rest)
        if self.phase is not Phase.ANSWER:
            self._set_deadline()

    def _parse(self, data: bytes) -> bytes | None:
        """Parse data. Returns the rest to parse next if a request in it offered an upgrade."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")
        except httptools.HttpParserUpgrade as offer:
            if self._is_upgrading:
                self._is_upgrading = False
                head = self._head_without_upgrade()
                self.parser = httptools.HttpRequestParser(self)
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                return head + data[offer.args[0] :]
        return None

    def on_message_begin(self) -> None:
        self.phase = Phase.HEAD
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            self._is_upgrading = True
            return
        self.phase = Phase.BODY
        if self._deadline is not None:
            self._cancel_deadline()
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not None and self.cycle is not before:
            self.cycle.transport = cast("asyncio.Transport", JoinedWrites(self.transport, self.cycle))

    def on_message_complete(self) -> None:
        if self._is_upgrading:
            return
        self.phase = Phase.ANSWER
        if self._deadline is not None:
            self._cancel_deadline()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self.phase is Phase.ANSWER and not self.pipeline:
            self.phase = Phase.IDLE
        super().on_response_complete()

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/" + version]
        for name, value in self.headers:
            if name == b"connection":
                tokens = [one.strip() for one in value.split(b",")]
                value = b", ".join(one for one in tokens if one.lower() not in _UPGRADING)
            if name not in _UPGRADING and value:
                lines.append(name + b": " + value)
        return b"\r\n".join([*lines, b"", b""])

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _set_deadline(self) -> None:
        if self._deadline is not None or self.phase in (Phase.IDLE, Phase.ANSWER) or self.transport.is_closing():
            return
        bounds = self._connections.bounds
        seconds = bounds.head_seconds if self.phase is Phase.HEAD else bounds.body_seconds * _GRACE + _GRACE_SECONDS
        self._deadline = self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        self._deadline = None
        cycle = self.cycle if self.cycle is not None and not self.cycle.response_complete else None
        if cycle and self.phase is Phase.HEAD:
            self._set_deadline()  # an earlier request of this connection is still being answered
            return
        if self.scope is not None and not (cycle and cycle.response_started):
            self.transport.write(_TOO_SLOW)
        if cycle:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()


_SLOW_BODY = (
    b'{"type":"about:blank","title":"Request Timeout","status":408,"detail":"the request did not arrive in time"}'
)
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/problem+json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_SLOW_BODY), _SLOW_BODY)
)
