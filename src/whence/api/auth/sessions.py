"""Sessions over HTTP: the current user, sign-in methods, sign-in with an API key, sign-out."""

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import Engine

from whence.api.auth.audit_log import AuditWriter, login_entry
from whence.api.auth.credentials import COOKIE, Caller, Credentials, csrf_of
from whence.api.auth.guard import Asker
from whence.api.auth.permissions import needs
from whence.api.http.responses import MISSING, PROBLEMS
from whence.errors import AccessError
from whence.model.access import OPEN, SCOPES, Action, Viewer
from whence.query.answers.instants import iso
from whence.store.security.audit import Entry, append_entries
from whence.store.security.database import read_security, write_security
from whence.store.security.sessions import (
    Session,
    add_session,
    hash_token,
    revoke_session,
    revoke_session_of,
    sessions_of,
)

RUNS_OPEN = "Whence runs open: everybody at this machine may do everything, so there are no keys, roles or sessions"
_OWN_SITE = ("same-origin", "none")
"""Values of `Sec-Fetch-Site` for requests from our own pages, or from the address bar."""
_NO_STORE = "no-store"
_ID = 16
"""Characters of a cookie's hash that identify its session."""


class Granted(BaseModel):
    """A role in the namespaces that match a pattern."""

    role: str
    namespaces: str


class CurrentUser(BaseModel):
    """The current user. `csrf` is the value that a page must send as `X-Whence-CSRF` with writes; empty without a
    session.

    `role` is the highest role in any namespace; `may` lists the permitted actions in the requested namespace, or in
    any.
    """

    name: str
    role: str | None
    may: list[str]
    sees_all: bool
    grants: list[Granted]
    scopes: list[str]
    csrf: str


class SignInMethods(BaseModel):
    """The sign-in methods: the provider at this host (empty: none), and API keys. `me` is the current user."""

    open: bool
    keys: bool
    provider: str
    me: CurrentUser | None


class ApiKeyCredential(BaseModel):
    """An API key."""

    key: Annotated[str, Field(max_length=500)]


class SessionOf(BaseModel):
    """A session of the current user. `id` cannot be used to sign in; `key` is the id of the key that began it.

    `current`: this session.
    """

    id: str
    created_at: str
    used_at: str
    expires_at: str
    key: str | None
    current: bool


class OwnSessions(BaseModel):
    """All live sessions, most recently used first."""

    data: list[SessionOf]


SessionId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="as `GET /api/v2/sessions` says it")]
Namespace = Annotated[str | None, Query(max_length=10_000, description="say what one may in this namespace")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Begins and ends sessions. `lifetime` (µs) is the longest duration of a session."""

    engine: Engine
    credentials: Credentials
    auditing: AuditWriter
    lifetime: int

    async def begin(
        self, answer: Response, how: Entry, subject: str, groups: tuple[str, ...] = (), key: str | None = None
    ) -> str:
        """Begin a session, and set its cookie. `how` is written to the audit log in the same transaction.

        Raises StoreError.
        """
        cookie, now = secrets.token_urlsafe(32), _now()
        session = Session(
            subject=subject,
            groups=groups,
            created_at=now,
            used_at=now,
            expires_at=now + self.lifetime,
            key=key,
        )
        await asyncio.to_thread(self._add, cookie, session, how)
        set_cookie(answer, COOKIE, cookie, self.lifetime // 1_000_000)
        return cookie

    async def end(self, request: Request, answer: Response) -> None:
        """End the browser's session, if it has one, for everybody who has its cookie. Raises StoreError."""
        if cookie := request.cookies.get(COOKIE):
            await asyncio.to_thread(self._revoke, cookie)
        answer.delete_cookie(COOKIE, secure=True, httponly=True, samesite="lax")

    async def own(self, subject: str, cookie: str | None) -> list[SessionOf]:
        """The live sessions of somebody. Raises StoreError."""
        policy, found = await self.credentials.policy(), await asyncio.to_thread(self._sessions_of, subject)
        here = hash_token(cookie) if cookie else ""
        return [
            _shown(id_, one, is_current=id_ == here)
            for id_, one in found.items()
            if one.key is None or ((key := policy.keys.get(one.key)) and key.is_live(_now()))
        ]

    async def end_own(self, subject: str, id_: str) -> None:
        """End one of somebody's sessions. Raises AccessError (404) if they have no such session, StoreError."""
        if not await asyncio.to_thread(self._revoke_own, subject, id_):
            raise AccessError("you have no session with this id; list your sessions to see their ids", 404)

    def note(self, who: str, what: str, status: int) -> None:
        """Record a failed sign-in; many failures become one row."""
        self.auditing.tally(login_entry(who, what, status))

    def _add(self, cookie: str, session: Session, how: Entry) -> None:
        with write_security(self.engine) as connection:
            add_session(connection, cookie, session)
            append_entries(connection, [how])

    def _sessions_of(self, subject: str) -> Mapping[str, Session]:
        with read_security(self.engine) as connection:
            return sessions_of(connection, subject, _now(), self.credentials.idle)

    def _revoke_own(self, subject: str, id_: str) -> int:
        with write_security(self.engine) as connection:
            return revoke_session_of(connection, subject, id_, _now())

    def _revoke(self, cookie: str) -> None:
        with write_security(self.engine) as connection:
            revoke_session(connection, cookie, _now())


def router(sessions: Sessions | None, provider: str) -> APIRouter:
    """The routes. `sessions` is None where Whence runs open; `provider` is the host that signs people in, or empty."""
    routes = APIRouter(prefix="/api/v2", tags=["access"], responses=PROBLEMS)

    @routes.get("/session")
    @needs(Action.KNOWN)
    async def who_am_i(request: Request, response: Response, viewer: Asker, namespace: Namespace = None) -> CurrentUser:
        """Show the current user, their grants and permitted actions."""
        response.headers["Cache-Control"] = _NO_STORE
        return _current_user(viewer, request.scope["state"]["known"].csrf, namespace)

    @routes.get("/session/ways")
    @needs(Action.PUBLIC)
    async def ways(request: Request, response: Response) -> SignInMethods:
        """List the sign-in methods, and the current user if signed in. Pages ask this first."""
        response.headers["Cache-Control"] = _NO_STORE
        if sessions is None:
            return SignInMethods(open=True, keys=False, provider="", me=_current_user(OPEN, ""))
        known = await _known(sessions.credentials, request)
        me = None if known is None else _current_user(known.viewer, known.csrf)
        return SignInMethods(open=False, keys=True, provider=provider, me=me)

    @routes.post("/session", status_code=201)
    @needs(Action.PUBLIC)
    async def sign_in(request: Request, response: Response, body: ApiKeyCredential) -> CurrentUser:
        """Sign in with an API key. The answer sets the session's cookie. The session ends when the key does."""
        here = _open(sessions)
        if request.headers.get("sec-fetch-site", "none") not in _OWN_SITE:
            raise AccessError("a sign-in must come from a page of this server", 403)
        return await _signed_in(here, response, body.key.strip())

    @routes.delete("/session", status_code=204)
    @needs(Action.KNOWN)
    async def sign_out(request: Request) -> Response:
        """Sign out. The session ends for everybody who has its cookie."""
        answer = Response(status_code=204)
        if sessions:
            await sessions.end(request, answer)
        return answer

    @routes.get("/sessions")
    @needs(Action.KNOWN)
    async def list_sessions(request: Request, response: Response, viewer: Asker) -> OwnSessions:
        """List your own live sessions, most recently used first."""
        response.headers["Cache-Control"] = _NO_STORE
        return OwnSessions(data=await _open(sessions).own(viewer.name, request.cookies.get(COOKIE)))

    @routes.delete("/sessions/{session}", status_code=204, responses=MISSING)
    @needs(Action.KNOWN)
    async def end_session(viewer: Asker, session: SessionId) -> Response:
        """End one of your own sessions. Its cookie is rejected from then on."""
        await _open(sessions).end_own(viewer.name, session)
        return Response(status_code=204)

    return routes


def _open(sessions: Sessions | None) -> Sessions:
    if sessions is None:
        raise AccessError(RUNS_OPEN, 409)
    return sessions


def _shown(id_: str, one: Session, *, is_current: bool) -> SessionOf:
    return SessionOf(
        id=id_[:_ID],
        created_at=iso(one.created_at),
        used_at=iso(one.used_at),
        expires_at=iso(one.expires_at),
        key=one.key,
        current=is_current,
    )


async def _signed_in(sessions: Sessions, response: Response, key: str) -> CurrentUser:
    what = "POST /api/v2/session"
    try:
        known, id_ = await sessions.credentials.of_key(key)
    except AccessError as error:
        sessions.note("nobody", what, error.status)
        raise
    how = login_entry(known.viewer.name, what, 201)
    cookie = await sessions.begin(response, how, known.viewer.name, key=id_)
    response.headers["Cache-Control"] = _NO_STORE
    return _current_user(known.viewer, csrf_of(cookie))


async def _known(credentials: Credentials, request: Request) -> Caller | None:
    try:
        return await credentials.known(request.scope)
    except AccessError:
        return None


def _current_user(viewer: Viewer, csrf: str, namespace: str | None = None) -> CurrentUser:
    highest = max((one.role for one in viewer.grants), default=None)
    return CurrentUser(
        name=viewer.name,
        role=None if highest is None else highest.name.lower(),
        may=[action for action in sorted(SCOPES) if viewer.is_allowed(action, namespace)],
        sees_all=viewer.can_see_all,
        grants=[Granted(role=one.role.name.lower(), namespaces=one.namespaces) for one in viewer.grants],
        scopes=sorted(viewer.scopes),
        csrf=csrf,
    )


def set_cookie(answer: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie that scripts cannot read and that browsers do not send from other sites."""
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=True, httponly=True, samesite="lax")


def _now() -> int:
    return time.time_ns() // 1_000
