"""Signing in to Google Cloud: a token in the environment, the key file of a service account, or the machine's own."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

import httpx2

from whence.capture.polling.http_source import HttpSource
from whence.errors import SourceError
from whence.openlineage.json.wire import Json

TOKEN, KEY_FILE = "WHENCE_BIGQUERY_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"
_SCOPE = "https://www.googleapis.com/auth/bigquery"
_MACHINE = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SECONDS = 20.0
_LIFETIME = 3_600
_HOW = f"set {TOKEN} to what `gcloud auth print-access-token` prints, or {KEY_FILE} to the key file of an account"


def authorize(source: HttpSource) -> Mapping[str, str]:
    """The headers of a token; none for a server on this machine, such as an emulator. Raises SourceError."""
    if token := os.environ.get(TOKEN):
        return _headers(token)
    if file := os.environ.get(KEY_FILE):
        return _headers(_token_of_account(source, Path(file)))
    if not source.address.startswith("https://"):
        return {}
    return _headers(_fetch(source, "GET", _MACHINE, headers={"Metadata-Flavor": "Google"}))


def _token_of_account(source: HttpSource, file: Path) -> str:
    try:
        account: Json = json.loads(file.read_text("utf-8"))
        client, key, address = account["client_email"], account["private_key"], account["token_uri"]
    except (OSError, ValueError, KeyError) as error:
        reason = f"the file of {KEY_FILE} is no key of a service account: {type(error).__name__}"
        raise SourceError(source.address, reason) from None
    form = {"grant_type": _GRANT, "assertion": _signed(source, str(client), str(key), str(address))}
    return _fetch(source, "POST", str(address), data=form)


def _signed(source: HttpSource, client: str, key: str, address: str) -> str:
    try:
        from joserfc import jwt
        from joserfc.jwk import RSAKey
    except ImportError:
        raise SourceError(source.address, f"to use {KEY_FILE}, pip install joserfc") from None
    now = int(time.time())
    claims = {"iss": client, "scope": _SCOPE, "aud": address, "iat": now, "exp": now + _LIFETIME}
    return str(jwt.encode({"alg": "RS256"}, claims, RSAKey.import_key(key)))


def _fetch(source: HttpSource, method: str, url: str, **sent: object) -> str:
    try:
        reply = httpx2.request(method, url, timeout=_SECONDS, **sent)  # type: ignore[arg-type]
        return str(reply.raise_for_status().json()["access_token"])
    except (httpx2.HTTPError, ValueError, KeyError) as error:
        raise SourceError(source.address, f"no token ({type(error).__name__}): {_HOW}") from None


def _headers(token: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {token}"}
