"""A small HTTP client for the API: one persistent connection, with retries during restarts and overload."""

import http.client
import json
import os
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from whence.client.profiles import choose_server
from whence.errors import ApiError

_PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, the headers (names in lower case), and the JSON body."""

    status: int
    headers: Mapping[str, str]
    json: Any


class Client:
    """A client of one API, with the key in WHENCE_API_KEY, else that of the profile with this URL.

    Retries for `patience` seconds while the API is unreachable or responds 503.
    """

    def __init__(self, url: str, *, patience: float = 60) -> None:
        """Raises ProfileError if the file of profiles cannot be read."""
        self.url = url if "://" in url else f"http://{url}"
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._path = parts.path.rstrip("/")
        self._connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=120)
        self._patience = patience
        self._key = choose_server(url).key

    def get(self, path: str) -> Reply:
        """Send a GET. Raises ApiError if the API stays unreachable. A 503 is returned, since health checks use it."""
        return self._ask("GET", path, None, retry=())

    def post(self, path: str, body: bytes) -> Reply:
        """Send a POST. Raises ApiError if the API stays unreachable or overloaded."""
        return self._ask("POST", path, body, retry=(503,))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _ask(self, method: str, path: str, body: bytes | None, retry: tuple[int, ...]) -> Reply:
        give_up = time.monotonic() + self._patience
        while True:
            try:
                reply = self._once(method, self._path + path, body)
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                reason, pause = explain(error), _PAUSE_SECONDS
            else:
                if reply.status not in retry:
                    return reply
                reason, pause = str(reply.json.get("reason", "is busy")), _retry_after(reply)
            if time.monotonic() + pause > give_up:
                raise ApiError(self.url, reason)
            time.sleep(pause)

    def _once(self, method: str, path: str, body: bytes | None) -> Reply:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        try:
            value = json.loads(content) if content else {}
        except ValueError:
            value = {"reason": f"its answer is not JSON (status {response.status}); check that this is a Whence server"}
        return Reply(response.status, {name.lower(): text for name, text in response.getheaders()}, value)


def explain(error: OSError | http.client.HTTPException) -> str:
    """Why there is no answer, for the user."""
    match error:
        case ConnectionRefusedError():
            return "nothing listens there; is `whence up` running?"
        case socket.gaierror():
            return "the name of the host cannot be resolved"
        case TimeoutError():
            return "no answer in time"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return "it does not speak https; try http://"
        case http.client.RemoteDisconnected():
            return "it ended the connection without an answer; does it speak https?"
    return str(error) or type(error).__name__


def refusal(reply: Reply) -> str:
    """Why the API rejected a request, for a user at a terminal."""
    if reply.status == 401:
        given = bool(os.environ.get("WHENCE_API_KEY"))
        return (
            "the key in WHENCE_API_KEY is not accepted"
            if given
            else "a valid API key is needed: `whence login`, or set WHENCE_API_KEY"
        )
    return str(reply.json.get("detail") or reply.json.get("reason") or f"status {reply.status}")


def _retry_after(reply: Reply) -> float:
    text = reply.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else _PAUSE_SECONDS
