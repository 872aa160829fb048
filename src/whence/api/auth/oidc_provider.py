"""An OpenID Connect provider: redirects to it, and verification of its tokens.

Authlib implements the code flow with PKCE, joserfc the signatures. Only algorithms with public keys are accepted: a
token cannot choose `none`, nor use the provider's public key as a shared secret.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.util import json_b64decode

from whence.api.settings import ProviderSettings
from whence.errors import AccessError, StoreError

ALGORITHMS = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
_LEEWAY_SECONDS = 30
_REFRESH_SECONDS = 60
"""The least time between two downloads of the keys, which a token with an unknown key triggers."""
_TIMEOUT_SECONDS = 10
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Person:
    """The subject of a token: `user:<sub>`, and their groups."""

    subject: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A pending login: the address for the browser, and the values to store until it returns."""

    url: str
    state: str
    nonce: str
    verifier: str


class Provider:
    """One provider, for one event loop."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._metadata: Mapping[str, Any] = {}
        self._keys: KeySet | None = None
        self._keys_at = 0.0
        self._fetching = asyncio.Lock()

    async def begin(self) -> PendingLogin:
        """Begin a login. Raises StoreError if the provider does not respond."""
        metadata, nonce, verifier = await self._discovered(), secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        async with self._client() as client:
            url, state = client.create_authorization_url(
                metadata["authorization_endpoint"], state=secrets.token_urlsafe(32), code_verifier=verifier, nonce=nonce
            )
        return PendingLogin(url, state, nonce, verifier)

    async def finish(self, code: str, nonce: str, verifier: str) -> Person:
        """Finish a login. Raises AccessError if the provider does not confirm it, StoreError if it does not respond."""
        metadata = await self._discovered()
        try:
            async with self._client() as client:
                token = await client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=verifier)
        except OAuthError as error:
            raise AccessError(f"the identity provider rejected the login: {error.error}") from None
        except httpx2.HTTPError as error:
            raise _unreachable(self._settings.issuer, error) from None
        claims = await self._claims(str(token.get("id_token", "")), self._settings.client_id)
        if not secrets.compare_digest(str(claims.get("nonce", "")), nonce):
            raise AccessError("the identity provider answered another login; sign in again")
        return self._person(claims)

    async def person(self, token: str) -> Person:
        """The subject of a bearer token. Raises AccessError unless the provider issued it for us, and it is still
        valid.
        """
        return self._person(await self._claims(token, self._settings.audience or self._settings.client_id))

    async def _claims(self, token: str, audience: str) -> Mapping[str, Any]:
        try:
            try:
                decoded = _decode(token, await self._key_set())
            except (JoseError, ValueError, KeyError):
                # The provider may have new keys.
                decoded = _decode(token, await self._key_set(newer=True))
            self._rules(audience).validate(decoded.claims)
        except (JoseError, ValueError, KeyError, TypeError):
            raise AccessError("the identity provider did not issue this token for Whence, or it has expired") from None
        return decoded.claims

    def _rules(self, audience: str) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "value": self._settings.issuer},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
            sub={"essential": True},
        )

    def _person(self, claims: Mapping[str, Any]) -> Person:
        groups = claims.get(self._settings.groups_claim, ())
        listed = groups if isinstance(groups, list | tuple) else ()
        return Person(f"user:{claims['sub']}", tuple(sorted({one for one in listed if isinstance(one, str)})))

    async def _key_set(self, *, newer: bool = False) -> KeySet:
        async with self._fetching:
            stale = time.monotonic() - self._keys_at > _REFRESH_SECONDS
            if self._keys is None or (newer and stale):
                metadata = await self._discovered()
                self._keys = KeySet.import_key_set(await self._get(metadata["jwks_uri"]))
                self._keys_at = time.monotonic()
            return self._keys

    async def _discovered(self) -> Mapping[str, Any]:
        if not self._metadata:
            issuer = self._settings.issuer
            metadata = await self._get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            if metadata.get("issuer") != issuer:
                raise StoreError(f"the identity provider at {issuer} identifies itself as {metadata.get('issuer')!r}")
            self._metadata = metadata
        return self._metadata

    async def _get(self, url: str) -> Any:
        parts = urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            raise StoreError(f"the identity provider must be reached over https, not at {url}")
        try:
            async with httpx2.AsyncClient(timeout=_TIMEOUT_SECONDS) as client:
                answer = await client.get(url)
                answer.raise_for_status()
                return answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise _unreachable(url, error) from None

    def _client(self) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            self._settings.client_id,
            self._settings.client_secret or None,
            scope="openid profile email",
            redirect_uri=f"{self._settings.public_url.rstrip('/')}/login/callback",
            code_challenge_method="S256",
            timeout=_TIMEOUT_SECONDS,
        )


def _decode(token: str, keys: KeySet) -> jwt.Token:
    """A token with a valid signature. A token that does not name its key may be signed by any of them.

    Raises JoseError, ValueError, KeyError.
    """
    header = json_b64decode(token.partition(".")[0].encode())
    if not isinstance(header, dict) or "kid" in header:
        return jwt.decode(token, keys, algorithms=list(ALGORITHMS))
    for key in keys.keys:
        with contextlib.suppress(JoseError, ValueError, KeyError):
            return jwt.decode(token, key, algorithms=list(ALGORITHMS))
    raise ValueError("no key of the identity provider matches the signature of this token")


def _unreachable(url: str, error: Exception) -> StoreError:
    return StoreError(f"the identity provider at {url} does not answer: {type(error).__name__}")
