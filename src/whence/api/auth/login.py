"""Sign-in through a provider in a browser, and sign-out."""

import asyncio
import secrets
import time
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import RedirectResponse

from whence.api.auth.audit_log import login_entry
from whence.api.auth.oidc_provider import Person, Provider
from whence.api.auth.permissions import needs
from whence.api.auth.sessions import Sessions, set_cookie
from whence.errors import AccessError
from whence.model.access import Action
from whence.store.security.database import write_security
from whence.store.security.sessions import Login, add_login, pop_login

LOGIN_COOKIE = "__Host-whence-login"
"""Binds a login to the browser that began it, so that nobody is signed in as somebody else."""
_LOGIN_SECONDS = 600
_FINISHED = "GET /login/callback"


class ProviderSignIn:
    """Sign-in and sign-out through a provider."""

    def __init__(self, sessions: Sessions, provider: Provider) -> None:
        self._sessions = sessions
        self._provider = provider

    def router(self) -> APIRouter:
        """The routes for browsers, which are not part of the documented API."""
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/login", self.begin, methods=["GET"])
        router.add_api_route("/login/callback", self.finish, methods=["GET"])
        router.add_api_route("/logout", self.leave, methods=["POST"])
        return router

    @needs(Action.PUBLIC)
    async def begin(self, to: Annotated[str, Query(max_length=2_000)] = "/") -> Response:
        """Send the browser to the provider."""
        begun, now = await self._provider.begin(), _now()
        login = Login(
            nonce=begun.nonce,
            verifier=begun.verifier,
            target=_own_path(to),
            expires_at=now + _LOGIN_SECONDS * 1_000_000,
        )
        await asyncio.to_thread(self._add_login, begun.state, login, now)
        answer = RedirectResponse(begun.url, 303)
        set_cookie(answer, LOGIN_COOKIE, begun.state, _LOGIN_SECONDS)
        return answer

    @needs(Action.PUBLIC)
    async def finish(self, request: Request, code: str = "", state: str = "") -> Response:
        """Finish the login after the provider's redirect. Raises AccessError."""
        try:
            person, target = await self._signed_in(request.cookies.get(LOGIN_COOKIE, ""), code, state)
        except AccessError as error:
            self._sessions.note("nobody", _FINISHED, error.status)
            raise
        answer = RedirectResponse(target, 303)
        how = login_entry(person.subject, _FINISHED, 303)
        await self._sessions.begin(answer, how, person.subject, person.groups)
        answer.delete_cookie(LOGIN_COOKIE, secure=True, httponly=True, samesite="lax")
        return answer

    @needs(Action.KNOWN)
    async def leave(self, request: Request) -> Response:
        """End the session for everybody who has its cookie."""
        answer = Response(status_code=204)
        await self._sessions.end(request, answer)
        return answer

    async def _signed_in(self, cookie: str, code: str, state: str) -> tuple[Person, str]:
        if not state or not secrets.compare_digest(cookie.encode(), state.encode()):
            raise AccessError("this login was started in another browser; sign in again")
        login = await asyncio.to_thread(self._take_login, state)
        if login is None:
            raise AccessError("this login has expired or is already complete; sign in again")
        return await self._provider.finish(code, login.nonce, login.verifier), login.target

    def _add_login(self, state: str, login: Login, now: int) -> None:
        with write_security(self._sessions.engine) as connection:
            add_login(connection, state, login, now)

    def _take_login(self, state: str) -> Login | None:
        with write_security(self._sessions.engine) as connection:
            return pop_login(connection, state, _now())


def _own_path(to: str) -> str:
    """A path of this host. Browsers read `//evil.example` and `\\\\evil` as other hosts."""
    try:
        parts = urlsplit(to)
    except ValueError:
        return "/"
    is_own = to.startswith("/") and not to.startswith("//") and not (parts.scheme or parts.netloc)
    return to if is_own and to.isprintable() and "\\" not in to else "/"


def _now() -> int:
    return time.time_ns() // 1_000
