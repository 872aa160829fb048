"""Middleware that authenticates and authorises every request before its route, and records it in the audit log.

Requests without a grant are rejected on every path. `viewer_of(request)` is the request's `Viewer`, and
`seen(request, graph)` the graph that they may see.
"""

import ipaddress
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from hmac import compare_digest
from hmac import digest as keyed
from typing import Annotated, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from fastapi import Depends, Request, Response
from starlette.datastructures import Headers
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whence.api.auth.audit_log import AuditWriter
from whence.api.auth.credentials import CSRF, Caller, Credentials
from whence.api.auth.permissions import RoutePermission, find, needed_by
from whence.api.http.client_address import client_address
from whence.api.http.path_names import routed_path
from whence.api.http.problems import problem, refused, unavailable
from whence.errors import AccessError, StoreError
from whence.model.access import OPEN, Action, Viewer
from whence.query.visibility.graph import seen_by
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.security.audit import Entry

_OPEN = Caller(OPEN, b"")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_NODE_PARAMETERS = frozenset({"node", "nodeId", "source", "target", "from", "to", "q", "text", "namespace"})
"""Parameters whose values are recorded in the audit log."""
REFUSED = "refused"
EXPORT = "export"
BEGUN = "begun"
"""Status of an entry that is written before a steward's action, so that no action is unaudited."""
_MOST_NODES = 50
_LONGEST_NODE = 500


def viewer_of(request: Request) -> Viewer:
    """The caller. Raises AccessError if the request did not pass `AccessGuard`."""
    known = request.scope.get("state", {}).get("known")
    if not isinstance(known, Caller):
        raise AccessError("authentication is required: send an API key, or sign in")
    return known.viewer


Asker = Annotated[Viewer, Depends(viewer_of)]
"""The caller, as a parameter of routes: `viewer: Asker`."""


def identify(request: Request, caller: Caller) -> None:
    """Set the caller of a public route that authenticates by itself, before it reads anything."""
    request.scope.setdefault("state", {})["known"] = caller


def seen(request: Request, graph: QuestionGraph) -> QuestionGraph:
    """The graph that the caller may see."""
    viewer = viewer_of(request)
    return seen_by(viewer, secret_of(request), graph)


def secret_of(request: Request) -> bytes:
    """The secret from which pseudonyms are derived in this installation."""
    known = request.scope["state"]["known"]
    return bytes(known.secret)


def viewer_tag(request: Request) -> str:
    """A tag that differs between viewers, and changes with their visibility, for ETags. Empty for who sees
    everything.
    """
    viewer = viewer_of(request)
    if viewer.can_see_all:
        return ""
    return keyed(secret_of(request), repr(viewer).encode(), "sha256").hex()[:16]


def answered(request: Request, count: int, *, export: bool = False) -> None:
    """Record in the audit log how many rows an answer has, and whether it is an export."""
    request.scope["state"]["answered"] = count, export


def wrote(request: Request, namespace: str, count: int) -> None:
    """Add to the number of events that went into a namespace, for the audit log."""
    written = request.scope["state"].setdefault("wrote", {})
    written[namespace] = written.get(namespace, 0) + count


def withheld(request: Request, what: str) -> None:
    """Record in the audit log the part of an event that is not applied, since the sender may not assert it."""
    request.scope["state"].setdefault("withheld", set()).add(what[:_LONGEST_NODE])


async def recheck_access(request: Request) -> None:
    """Check whether the caller may still make this request, for answers that take long, and update what they may see.

    Raises AccessError, StoreError.
    """
    await request.scope["state"]["recheck_access"]()


def recorded(request: Request) -> None:
    """Mark the request as already recorded, in the transaction of its change."""
    request.scope["state"]["recorded"] = True


class AccessGuard:
    """The outermost ASGI middleware. `credentials` is None if Whence runs open."""

    def __init__(
        self,
        app: ASGIApp,
        routes: Callable[[], Sequence[BaseRoute]],
        credentials: Credentials | None,
        auditing: AuditWriter | None,
    ) -> None:
        self._app = app
        self._routes = routes
        self._credentials = credentials
        self._auditing = auditing
        self._needed: tuple[RoutePermission, ...] = ()
        self._plain: dict[tuple[str, str], RoutePermission] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        route = self._find(scope["method"], routed_path(scope))
        response = _Status(send, is_public=route is not None and route.action is Action.PUBLIC)
        try:
            refusal = await self._refusal(scope, route)
            await (refusal or self._app)(scope, receive, response)
        except AccessError as error:
            await refused(error)(scope, receive, response)
        finally:
            self._write_down(scope, route, response.status)

    def _find(self, method: str, path: str) -> RoutePermission | None:
        if not self._needed:
            self._needed = needed_by(self._routes())
            plain = [(one, way) for one in self._needed if "{" not in one.path for way in one.methods]
            # Of two routes with one path the first applies, and a pattern before them applies first.
            self._plain = {(way, one.path): one for one, way in plain if find(self._needed, way, one.path) is one}
        return self._plain.get((method, path)) or find(self._needed, method, path)

    async def _refusal(self, scope: Scope, route: RoutePermission | None) -> Response | None:
        """The response to an unauthorised request, or None if it is authorised; then the request has its caller."""
        if route is not None and route.action is Action.PUBLIC:
            return None
        try:
            known = await self._known(scope, route.action if route else None)
            if self._auditing:
                self._auditing.check(writes=route is not None and route.action is Action.WRITE)
            state = scope.setdefault("state", {})
            state["known"] = known
            if route is None:
                return problem(404, "Not Found")
            _check(scope, route, known)
            state["recheck_access"] = partial(self._recheck, scope, route)
            # Actions of administrators are recorded in their own transaction.
            if self._auditing and route.action is Action.STEWARD:
                await self._auditing.ahead(_begun(scope, route, known))
        except StoreError as error:
            return unavailable(error)
        return None

    async def _recheck(self, scope: Scope, route: RoutePermission) -> None:
        known = await self._known(scope, route.action)
        _check(scope, route, known)
        scope["state"]["known"] = known

    async def _known(self, scope: Scope, action: Action | None) -> Caller:
        if self._credentials is None:
            _refuse_strangers(scope)
            return _OPEN
        return await self._credentials.known(scope, action)

    def _write_down(self, scope: Scope, route: RoutePermission | None, status: int) -> None:
        if self._auditing is None or (route is not None and route.action is Action.PUBLIC):
            return
        state = scope.get("state", {})
        if state.get("recorded"):
            return
        entry = _entry(scope, route, status, state)
        if entry.action == REFUSED or "wrote" in state:
            self._auditing.tally(entry)
        else:
            self._auditing.note(entry)


def _begun(scope: Scope, route: RoutePermission, known: Caller) -> Entry:
    what, nodes = f"{scope['method']} {route.path}", _requested_nodes(scope, route)
    return Entry(at=time.time_ns() // 1_000, who=known.viewer.name, action=BEGUN, what=what, nodes=nodes, status=102)


def _entry(scope: Scope, route: RoutePermission | None, status: int, state: Mapping[str, Any]) -> Entry:
    now, what = time.time_ns() // 1_000, f"{scope['method']} {route.path if route else '(no such path)'}"
    known: Caller | None = state.get("known")
    if known is None or status in (401, 403):
        who = known.viewer.name if known else "nobody"
        return Entry(at=now, who=who, action=REFUSED, what=what, count=1, status=status)
    who, action = known.viewer.name, str(route.action if route else "unknown")
    if written := state.get("wrote"):
        nodes = (*sorted(written), *sorted(state.get("withheld", ())))[:_MOST_NODES]
        count = sum(written.values())
        return Entry(at=now, who=who, action=action, what=what, nodes=nodes, count=count, status=status)
    count, is_export = state.get("answered", (0, False))
    action = EXPORT if is_export else action
    return Entry(
        at=now, who=who, action=action, what=what, nodes=_requested_nodes(scope, route), count=count, status=status
    )


class _Status:
    """Passes messages on, remembers the status of the answer, and adds the headers of every answer."""

    def __init__(self, send: Send, *, is_public: bool) -> None:
        self._send = send
        self._added = _PUBLIC_HEADERS if is_public else _GUARDED_HEADERS
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [one for one in message["headers"] if one != _SHARED]
            given = {name for name, _ in own}
            message["headers"] = [*own, *(one for one in self._added if one[0] not in given)]
        await self._send(message)


_SHARED = (b"cache-control", b"no-cache")
"""What FastAPI says of a stream: a cache that several people share may keep it."""
_PUBLIC_HEADERS = ((b"x-content-type-options", b"nosniff"),)
_GUARDED_HEADERS = (
    *_PUBLIC_HEADERS,
    (b"cache-control", b"private, no-cache"),  # answers differ between viewers
    (b"vary", b"Accept, Authorization, Cookie"),
)


def _check(scope: Scope, route: RoutePermission, known: Caller) -> None:
    if route.action is None:
        raise AccessError("this route declares no required permission, so Whence rejects all requests to it", 403)
    if not known.viewer.is_allowed(route.action):
        raise AccessError(f"{known.viewer.name} has no grant to {route.action} (`whence access grant`)", 403)
    if known.csrf and scope["method"] not in _SAFE:
        repeated = Headers(scope=scope).get(CSRF, "")
        if not compare_digest(repeated.encode(), known.csrf.encode()):
            raise AccessError(f"a browser must send the CSRF token of the session in the header {CSRF}", 403)


def _refuse_strangers(scope: Scope) -> None:
    """Reject others than this machine in open mode: its network, and pages of other sites in its browser."""
    peer = client_address(scope) or "127.0.0.1"
    headers = [value for name, value in scope["headers"] if name in (b"host", b"origin")]
    if not _is_loopback(peer) or not all(map(_is_own, headers)):
        raise AccessError("Whence runs without authentication, so it answers only requests from this machine", 403)


@lru_cache(maxsize=256)
def _is_own(header: bytes) -> bool:
    """Whether a Host or Origin is this machine."""
    text = header.decode("latin-1")
    try:
        return _is_loopback(urlsplit(text if "://" in text else f"//{text}").hostname or "")
    except ValueError:
        return False


@lru_cache(maxsize=256)
def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _requested_nodes(scope: Scope, route: RoutePermission | None) -> tuple[str, ...]:
    query = parse_qsl(scope["query_string"].decode("latin-1"))
    values = [value for name, value in query if name in _NODE_PARAMETERS]
    # The router records path parameters in a scope of its own, so the path is parsed here.
    found = route.pattern.match(routed_path(scope)) if route else None
    values += map(unquote, found.groups(default="") if found else ())
    return tuple(value[:_LONGEST_NODE] for value in values[:_MOST_NODES])
