"""A small HTTP client for the API: one kept connection, patience with restarts and overload."""

import http.client
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from whence.errors import ApiError

_PAUSE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, the headers (names in lower case), and the JSON body."""

    status: int
    headers: Mapping[str, str]
    json: Any


class Client:
    """Talks to one API, with the key in WHENCE_API_KEY if there is one.

    Tries again for `patience` seconds while it is unreachable or says 503.
    """

    def __init__(self, url: str, *, patience: float = 60) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._url = url
        self._path = parts.path.rstrip("/")
        self._connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=120)
        self._patience = patience
        self._key = os.environ.get("WHENCE_API_KEY", "")

    def get(self, path: str) -> Reply:
        """Raises ApiError if the API stays unreachable. A 503 is an answer here: health speaks by it."""
        return self._ask("GET", path, None, retry=())

    def post(self, path: str, body: bytes) -> Reply:
        """Raises ApiError if the API stays unreachable or overloaded."""
        return self._ask("POST", path, body, retry=(503,))

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _ask(self, method: str, path: str, body: bytes | None, retry: tuple[int, ...]) -> Reply:
        give_up = time.monotonic() + self._patience
        while True:
            try:
                reply = self._once(method, self._path + path, body)
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                reason, pause = str(error) or type(error).__name__, _PAUSE_SECONDS
            else:
                if reply.status not in retry:
                    return reply
                reason, pause = str(reply.json.get("reason", "is busy")), _retry_after(reply)
            if time.monotonic() + pause > give_up:
                raise ApiError(self._url, reason)
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
            value = {"reason": f"an answer that is no JSON (status {response.status}); is this Whence?"}
        return Reply(response.status, {name.lower(): text for name, text in response.getheaders()}, value)


def _retry_after(reply: Reply) -> float:
    text = reply.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else _PAUSE_SECONDS
