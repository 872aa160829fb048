"""Authentication: from an API key, a provider's token or a session cookie to a `Viewer`."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from hmac import compare_digest

from sqlalchemy import Connection, Engine
from starlette.requests import Request
from starlette.types import Scope

from whence.api.auth.audit_log import AuditWriter
from whence.api.auth.oidc_provider import Provider
from whence.api.settings import Settings
from whence.errors import AccessError, StoreError
from whence.govern.api_keys import Key, fingerprint, is_hash_of, parse_key
from whence.model.access import Action, Viewer
from whence.store.security.api_key_rows import StoredKey, keep_fingerprint, record_key_use
from whence.store.security.database import read_security
from whence.store.security.grants import read_state
from whence.store.security.policy import Policy, read_policy
from whence.store.security.sessions import Session, find_session, use_session

COOKIE = "__Host-whence"
"""The session cookie. With its prefix, browsers store it only if it is Secure, for this host, and for all paths."""

CSRF = "x-whence-csrf"
_FRESH_SECONDS = 1.0
"""How long a revoked key or grant may still be valid: the longest time between two reads of the policy."""
_PATIENCE_SECONDS = 1.0
"""How long an event waits for a read of the policy before the last known policy applies."""
_MOST_WAITING = 8
"""The most keys without a fingerprint that wait for Argon2."""
_WRONG_PER_SECOND, _AT_ONCE_SECONDS = 200, 0.1
"""The rate at which wrong keys are answered; after a pause, as many seconds' worth are answered at once."""
_MINUTE = 60_000_000
_UNKNOWN = "say who you are: send an API key or a token of your provider as `Authorization: Bearer ...`"
_REFUSED = "this key is not known, was revoked or has expired; `whence keys list` shows which are live"


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller. `csrf` is the value that a browser must send with writes; empty for other callers."""

    viewer: Viewer
    secret: bytes
    csrf: str = ""


_Checked = tuple[StoredKey | None, Caller | None, Policy | None]
_NOTHING: _Checked = (None, None, None)


class Credentials:
    """Authenticates requests, for one event loop. A key is checked with Argon2 once, then by a hash in memory."""

    def __init__(self, engine: Engine, auditing: AuditWriter, provider: Provider | None, settings: Settings) -> None:
        self._engine = engine
        self._auditing = auditing
        self._provider = provider
        self.idle = int(settings.session_idle_seconds * 1e6)
        self._grace = settings.policy_grace_seconds
        self._policy: Policy | None = None
        self._read_at = self._changed_at = self._requested_at = 0.0
        self._reading: asyncio.Task[Policy] | None = None
        self._checked: dict[bytes, _Checked] = {}
        """By SHA-256 of a valid key: the caller, and the policy that it was checked with."""
        self._used: dict[str, int] = {}
        # Wrong keys are detected by their fingerprint: only valid ones wait here, and never behind guesses of others.
        self._slow = ThreadPoolExecutor(1, "argon2")
        self._guessed = ThreadPoolExecutor(1, "argon2-guessed")
        self._guesses = 0
        self._next_wrong = 0.0
        """When the next wrong key is answered, by the loop's clock."""

    async def known(self, scope: Scope, action: Action | None = None) -> Caller:
        """The caller. Raises AccessError (401, 503), StoreError. A writer stays authenticated for a while without the
        database.
        """
        policy = await self.policy(may_be_old=action is Action.WRITE)
        headers = [value for name, value in scope["headers"] if name == b"authorization"]
        if not headers and (cookie := Request(scope).cookies.get(COOKIE)):
            return await self._by_session(policy, cookie)
        scheme, _, token = headers[0].decode("latin-1").partition(" ") if len(headers) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            raise AccessError(_UNKNOWN)
        if token.count(".") == 2:
            return await self._by_token(policy, token.strip())
        return await self._by_key(policy, token.strip())

    async def of_key(self, text: str) -> tuple[Caller, str]:
        """The owner of an API key, and its id. Raises AccessError (401), StoreError."""
        known, key = await self._by_key(await self.policy(), text), parse_key(text)
        assert key is not None  # otherwise the caller would not be authenticated
        return known, key.id

    async def policy(self, *, may_be_old: bool = False) -> Policy:
        """The access policy, at most a second old. Raises StoreError.

        With `may_be_old`, the last policy that was read, within the grace period, while the database does not respond.
        """
        if self._policy and self._is_fresh():
            return self._policy
        if self._reading is None or self._reading.done():
            if may_be_old and self._may_be_used() and time.monotonic() - self._requested_at < _PATIENCE_SECONDS:
                return self._last_known()
            self._requested_at = time.monotonic()
            self._reading = asyncio.get_running_loop().create_task(self._refresh_policy())
            self._reading.add_done_callback(lambda task: task.cancelled() or task.exception())
        patience = self._requested_at + _PATIENCE_SECONDS - time.monotonic() if may_be_old and self._policy else None
        try:
            return await asyncio.wait_for(asyncio.shield(self._reading), patience)
        except (StoreError, TimeoutError):
            if not may_be_old:
                raise
            return self._last_known()

    async def _refresh_policy(self) -> Policy:
        self._policy = await asyncio.to_thread(self._read, self._policy)
        self._read_at = self._requested_at
        return self._policy

    def _last_known(self) -> Policy:
        if self._policy is None or not self._may_be_used():
            raise StoreError("the security database does not answer, and the cached access policy is too old")
        return self._policy

    def _may_be_used(self) -> bool:
        """Whether the last policy applies without the database. A policy that this process has changed
        since does not.
        """
        return self._read_at > self._changed_at and time.monotonic() - self._read_at <= self._grace

    def expire_policy(self) -> None:
        """Read the policy again before the next answer, since this process changed it. Thread-safe."""
        self._changed_at = time.monotonic()

    def _is_fresh(self) -> bool:
        return self._read_at > self._changed_at and time.monotonic() - self._read_at <= _FRESH_SECONDS

    def close(self) -> None:
        """End the threads."""
        self._slow.shutdown(wait=False, cancel_futures=True)
        self._guessed.shutdown(wait=False, cancel_futures=True)

    def _read(self, known: Policy | None) -> Policy:
        with read_security(self._engine) as connection:
            if known and read_state(connection).revision == known.revision:
                return known
            return read_policy(connection)

    async def _by_key(self, policy: Policy, text: str) -> Caller:
        digest = sha256(text.encode()).digest()
        stored, known, of = self._checked.get(digest, _NOTHING)
        if of is not policy or known is None or stored is None:
            stored = await self._stored(policy, text, stored)
            known = Caller(policy.viewer(f"key:{stored.name}", scopes=stored.scopes), policy.secret)
            self._checked[digest] = stored, known, policy
        now = _now()
        if not stored.is_live(now):
            raise AccessError(_REFUSED)
        if now - self._used.get(stored.id, stored.used_at or 0) > _MINUTE:
            self._used[stored.id] = now
            self._auditing.along(partial(record_key_use, ids=[stored.id], at=now))
        return known

    async def _stored(self, policy: Policy, text: str, checked: StoredKey | None) -> StoredKey:
        """The stored key of a text, if the text is that key. `checked` is the stored key of an earlier check."""
        key = parse_key(text)
        stored = policy.keys.get(key.id) if key else None
        if key is None or stored is None:
            raise await self._wrong_key_error()
        if checked is not None and checked.hash == stored.hash:
            return stored
        if stored.fingerprint is None:
            return await self._guess(stored, key)
        if not compare_digest(stored.fingerprint, fingerprint(key)) or not await self._verify(self._slow, stored, key):
            raise await self._wrong_key_error()
        return stored

    async def _wrong_key_error(self) -> AccessError:
        """The answer to a wrong key. In a flood, answers are evenly spaced, so only the senders of wrong keys wait."""
        now = asyncio.get_running_loop().time()
        self._next_wrong = max(self._next_wrong, now - _AT_ONCE_SECONDS) + 1 / _WRONG_PER_SECOND
        if self._next_wrong > now:
            await asyncio.sleep(self._next_wrong - now)
        return AccessError(_REFUSED)

    async def _guess(self, stored: StoredKey, key: Key) -> StoredKey:
        """Check a key that was stored before keys had fingerprints, and store its fingerprint if it is valid."""
        if self._guesses >= _MOST_WAITING:
            raise AccessError("too many API keys are being verified; send the request again", 503)
        self._guesses += 1
        try:
            is_right = await self._verify(self._guessed, stored, key)
        finally:
            self._guesses -= 1
        if not is_right:
            raise await self._wrong_key_error()
        self._auditing.along(partial(keep_fingerprint, id_=key.id, text=fingerprint(key)))
        return stored

    async def _verify(self, lane: ThreadPoolExecutor, stored: StoredKey, key: Key) -> bool:
        return await asyncio.get_running_loop().run_in_executor(lane, is_hash_of, stored, key)

    async def _by_token(self, policy: Policy, token: str) -> Caller:
        if self._provider is None:
            raise AccessError(
                "this server does not accept tokens: no identity provider is configured (docs/explanation/security.md)"
            )
        person = await self._provider.person(token)
        return Caller(policy.viewer(person.subject, person.groups), policy.secret)

    async def _by_session(self, policy: Policy, cookie: str) -> Caller:
        now = _now()
        session = await asyncio.to_thread(self._session, cookie)
        if session is None or not session.is_live(now, self.idle):
            raise AccessError("the session has ended: sign in again")
        if now - session.used_at > _MINUTE:
            self._auditing.along(partial(_use, cookie, now))
        return Caller(_viewer(policy, session, now), policy.secret, csrf_of(cookie))

    def _session(self, cookie: str) -> Session | None:
        with read_security(self._engine) as connection:
            return find_session(connection, cookie)


def _viewer(policy: Policy, session: Session, now: int) -> Viewer:
    """The viewer of a session. Raises AccessError if the key that began it is not valid any more."""
    if session.key is None:
        return policy.viewer(session.subject, session.groups)
    stored = policy.keys.get(session.key)
    if stored is None or not stored.is_live(now):
        raise AccessError("the key of this session was revoked or has expired: sign in again")
    return policy.viewer(session.subject, scopes=stored.scopes)


def csrf_of(cookie: str) -> str:
    """The value that a page must send with a session's writes: only a page of this host can have read it."""
    return sha256(f"csrf:{cookie}".encode()).hexdigest()


def _use(cookie: str, at: int, connection: Connection) -> None:
    use_session(connection, cookie, at)


def _now() -> int:
    return time.time_ns() // 1_000
