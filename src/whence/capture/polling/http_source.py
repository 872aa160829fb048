"""A server that a capture polls over HTTP: requests that are tried again, and errors that name the page they are of."""

import os
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2

from whence.errors import SourceError
from whence.openlineage.json.wire import Json
from whence.tls import server_verification
from whence_client.redaction.credentials import strip_credentials

_SECONDS = 60.0
_BUSY = frozenset((408, 425, 429, 500, 502, 503, 504))
_PAUSES = (0.5, 2.0, 8.0)
"""Seconds before each further try of a request."""
_LONGEST_PAUSE = 60.0
_UNAUTHORIZED = 401
_TEXT = 300


@dataclass(slots=True, kw_only=True)
class HttpSource:
    """A server. `authorize` gives the headers that requests need; it is asked again once when the server says 401.

    Every method raises SourceError when the server does not answer after some tries, refuses, or answers no JSON.
    """

    url: str
    variables: tuple[str, ...] = ()
    """The environment variables that have the credentials, for the error of a sign-in that is refused."""
    authorize: "Callable[[HttpSource], Mapping[str, str]]" = lambda source: {}
    pause: Callable[[float], None] = time.sleep
    _client: httpx2.Client | None = field(default=None)
    _headers: Mapping[str, str] | None = field(default=None)

    @property
    def address(self) -> str:
        """The server, without credentials."""
        return strip_credentials(self.url)

    def get(self, path: str, **parameters: Any) -> Json:
        """The document at a path."""
        return self.document(path, self.send("GET", path, params=parameters))

    def document(self, path: str, reply: httpx2.Response) -> Json:
        """The JSON object in a reply."""
        found = _json(self, path, self.checked(path, reply))
        return found if isinstance(found, dict) else {}

    def checked(self, path: str, reply: httpx2.Response) -> httpx2.Response:
        """The reply of a request that succeeded."""
        if reply.is_success:
            return reply
        if reply.status_code == _UNAUTHORIZED:
            raise SourceError(self.address, explain_refusal(path, self.variables))
        raise SourceError(self.address, f"HTTP {reply.status_code} for {path}: {reply.text[:_TEXT]}")

    def send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        """The reply of a request, whatever its status; tried again while the server is busy or cannot be reached."""
        if self._headers is None:
            self._headers = {}  # of the requests that `authorize` makes
            self._headers = dict(self.authorize(self))
            reply = self._persist(method, path, sent)
        else:
            reply = self._persist(method, path, sent)
            if reply.status_code == _UNAUTHORIZED and self._headers:
                self._headers = None  # a token may have ended
                return self.send(method, path, **sent)
        return reply

    def close(self) -> None:
        """Close the connections and forget the token; the next request opens them again."""
        self._headers = None
        if self._client is not None:
            self._client.close()
            self._client = None

    def _persist(self, method: str, path: str, sent: dict[str, Any]) -> httpx2.Response:
        for seconds in _PAUSES:
            try:
                reply = self._send_once(method, path, sent)
            except httpx2.TransportError:
                self.pause(seconds)
                continue
            if reply.status_code not in _BUSY:
                return reply
            self.pause(_wanted_pause(reply, seconds))
        try:
            return self._send_once(method, path, sent)
        except httpx2.HTTPError as error:
            raise SourceError(self.address, f"{type(error).__name__} for {path}: {error}") from None

    def _send_once(self, method: str, path: str, sent: dict[str, Any]) -> httpx2.Response:
        client = self._client = self._client or httpx2.Client(timeout=_SECONDS, verify=server_verification(self.url))
        return client.request(method, f"{self.url.rstrip('/')}/{path}", headers=dict(self._headers or {}), **sent)


def explain_refusal(path: str, variables: tuple[str, ...]) -> str:
    """Why a server refuses to say who asks (HTTP 401), and what to do. `variables` have the credentials."""
    refused = f"the server refuses the sign-in (HTTP 401 for {path})"
    given = [one for one in variables if os.environ.get(one)]
    if given:
        return f"{refused}: the value of {' or '.join(given)} is wrong or has expired; set a valid one"
    return f"{refused}: set {', '.join(variables) or 'its credentials'}, as the how-to of this capture shows"


def basic_login(user: str, password: str) -> Mapping[str, str]:
    """The headers of a user and a password that environment variables have; none if they do not."""
    name = os.environ.get(user)
    if not name:
        return {}
    pair = f"{name}:{os.environ.get(password, '')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def name_server(system: str, url: str) -> str:
    """The namespace of a server: `airflow://host:port`, without credentials.

    >>> name_server("airflow", "https://ada:pw@Airflow.example/team/")
    'airflow://airflow.example/team'
    """
    parsed = urlsplit(url)
    return f"{system}://{parsed.netloc.rpartition('@')[2].lower()}{parsed.path.rstrip('/')}"


def require_url(url: str, variable: str, example: str) -> str:
    """The URL of a server. Raises ValueError with a sentence if it is none of HTTP."""
    if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc:
        return url
    raise ValueError(f"{'this' if url else 'no address'} is no HTTP server: set url={example}, or {variable}")


def _json(source: HttpSource, path: str, reply: httpx2.Response) -> Any:
    try:
        return reply.json()
    except ValueError:
        raise SourceError(source.address, f"no JSON for {path}: {reply.text[:_TEXT]}") from None


def _wanted_pause(reply: httpx2.Response, seconds: float) -> float:
    wanted = reply.headers.get("retry-after", "")
    return min(float(wanted), _LONGEST_PAUSE) if wanted.isdigit() else seconds
