"""Who asks: from an API key, a provider's token or a session's cookie to a `Viewer`. Nothing else is believed."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from sqlalchemy import Connection, Engine
from starlette.requests import Request
from starlette.types import Scope

from whence.api.auditing import Auditing
from whence.api.provider import Provider
from whence.errors import AccessError
from whence.govern.keys import is_hash_of, read_key
from whence.model.access import Viewer
from whence.store.security.database import asking
from whence.store.security.grants import read_state
from whence.store.security.keys import StoredKey, used_keys
from whence.store.security.policy import Policy, read_policy
from whence.store.security.sessions import Session, find_session, use_session

COOKIE = "__Host-whence"
"""The session's cookie: by its prefix a browser keeps it only if it is Secure, for this host and all its paths."""

CSRF = "x-whence-csrf"
_FRESH_SECONDS = 1.0
"""How long a revoked key, or a grant taken back, may still count: the longest time between two looks."""
_MINUTE = 60_000_000
_UNKNOWN = "say who you are: send an API key or a token of your provider as `Authorization: Bearer ...`"
_REFUSED = "this key is not known, was revoked or has expired; `whence keys list` shows which are live"


@dataclass(frozen=True, slots=True)
class Known:
    """Who asks. `csrf` is what a browser must repeat when it writes; empty for who is no browser."""

    viewer: Viewer
    secret: bytes
    csrf: str = ""


_Checked = tuple[StoredKey | None, Known | None, Policy | None]
_NOTHING: _Checked = (None, None, None)


class Credentials:
    """Finds out who asks, for one event loop. Keys are checked with Argon2 once, and then by a hash in memory."""

    def __init__(self, engine: Engine, auditing: Auditing, provider: Provider | None, idle_seconds: float) -> None:
        self._engine = engine
        self._auditing = auditing
        self._provider = provider
        self.idle = int(idle_seconds * 1e6)
        self._policy: Policy | None = None
        self._read_at = 0.0
        self._reading = asyncio.Lock()
        self._checked: dict[bytes, _Checked] = {}
        """By SHA-256 of the key: what it is good for, under which policy. Only keys that are right are in it."""
        self._used: dict[str, int] = {}
        # One: however many wrong keys come, guessing them takes no more than one core.
        self._slow = ThreadPoolExecutor(1, "argon2")

    async def known(self, scope: Scope) -> Known:
        """Who asks. Raises AccessError (401), StoreError."""
        policy = await self.policy()
        said = [value for name, value in scope["headers"] if name == b"authorization"]
        if not said and (cookie := Request(scope).cookies.get(COOKIE)):
            return await self._by_session(policy, cookie)
        scheme, _, token = said[0].decode("latin-1").partition(" ") if len(said) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            raise AccessError(_UNKNOWN)
        if token.count(".") == 2:
            return await self._by_token(policy, token.strip())
        return await self._by_key(policy, token.strip())

    async def of_key(self, text: str) -> tuple[Known, str]:
        """Who has an API key, and its id. Raises AccessError (401), StoreError."""
        known, key = await self._by_key(await self.policy(), text), read_key(text)
        assert key is not None  # else it would not be known
        return known, key.id

    async def policy(self) -> Policy:
        """Who may do what, at most a second old. Raises StoreError."""
        if self._policy and self._is_fresh():
            return self._policy
        async with self._reading:
            if self._policy is None or not self._is_fresh():
                self._policy = await asyncio.to_thread(self._read, self._policy)
                self._read_at = time.monotonic()
            return self._policy

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._read_at <= _FRESH_SECONDS

    def close(self) -> None:
        """Let the thread end."""
        self._slow.shutdown(wait=False, cancel_futures=True)

    def _read(self, known: Policy | None) -> Policy:
        with asking(self._engine) as connection:
            if known and read_state(connection).revision == known.revision:
                return known
            return read_policy(connection)

    async def _by_key(self, policy: Policy, text: str) -> Known:
        digest = sha256(text.encode()).digest()
        stored, known, of = self._checked.get(digest, _NOTHING)
        if of is not policy or known is None or stored is None:
            stored = await self._stored(policy, text, stored)
            known = Known(policy.viewer(f"key:{stored.name}", scopes=stored.scopes), policy.secret)
            self._checked[digest] = stored, known, policy
        now = _now()
        if not stored.is_live(now):
            raise AccessError(_REFUSED)
        if now - self._used.get(stored.id, stored.used_at or 0) > _MINUTE:
            self._used[stored.id] = now
            self._auditing.along(partial(used_keys, ids=[stored.id], at=now))
        return known

    async def _stored(self, policy: Policy, text: str, checked: StoredKey | None) -> StoredKey:
        """What is kept of a key, if it is that key: it need not be asked again of one that was checked."""
        key = read_key(text)
        stored = policy.keys.get(key.id) if key else None
        if key is None or stored is None:
            raise AccessError(_REFUSED)
        is_checked = checked is not None and checked.hash == stored.hash
        if not is_checked and not await asyncio.get_running_loop().run_in_executor(self._slow, is_hash_of, stored, key):
            raise AccessError(_REFUSED)
        return stored

    async def _by_token(self, policy: Policy, token: str) -> Known:
        if self._provider is None:
            raise AccessError("tokens are not taken here: no provider is set up (docs/security.md)")
        person = await self._provider.person(token)
        return Known(policy.viewer(person.subject, person.groups), policy.secret)

    async def _by_session(self, policy: Policy, cookie: str) -> Known:
        now = _now()
        session = await asyncio.to_thread(self._session, cookie)
        if session is None or not session.is_live(now, self.idle):
            raise AccessError("the session has ended: sign in again")
        if now - session.used_at > _MINUTE:
            self._auditing.along(partial(_use, cookie, now))
        return Known(_viewer(policy, session, now), policy.secret, csrf_of(cookie))

    def _session(self, cookie: str) -> Session | None:
        with asking(self._engine) as connection:
            return find_session(connection, cookie)


def _viewer(policy: Policy, session: Session, now: int) -> Viewer:
    """Whose session it is. Raises AccessError if the key that it was begun with is worth nothing any more."""
    if session.key is None:
        return policy.viewer(session.subject, session.groups)
    stored = policy.keys.get(session.key)
    if stored is None or not stored.is_live(now):
        raise AccessError("the key of this session was revoked or has expired: sign in again")
    return policy.viewer(session.subject, scopes=stored.scopes)


def csrf_of(cookie: str) -> str:
    """What a page must send with a session's writes: only a page of this host can have read it."""
    return sha256(f"csrf:{cookie}".encode()).hexdigest()


def _use(cookie: str, at: int, connection: Connection) -> None:
    use_session(connection, cookie, at)


def _now() -> int:
    return time.time_ns() // 1_000
