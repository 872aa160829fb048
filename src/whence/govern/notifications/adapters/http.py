"""Requests to receivers, and what their answers mean. Retries are the outbox's: each method sends once."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec

from whence.errors import DeliveryError
from whence.govern.gate.rendering.names import printable

Json = dict[str, Any]
_SECONDS = httpx2.Timeout(10, connect=5)
_LONGEST_REASON = 200
_LONGEST_PAUSE = 3_600.0


@dataclass(frozen=True, slots=True)
class Http:
    """Connections to receivers. Redirects are not followed: a secret goes where the file says, and nowhere else."""

    client: httpx2.Client

    def send(
        self,
        method: str,
        url: str,
        body: Json | list[Json] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, str | int] | None = None,
    ) -> Any:
        """The JSON of an answer; None if it is none. Raises DeliveryError without the path, which may be secret."""
        content = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        sent = {"User-Agent": "Whence", "Content-Type": "application/json", **(headers or {})}
        try:
            answer = self.client.request(method, url, content=content, headers=sent, params=parameters)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise DeliveryError(place_of(url), str(error) or type(error).__name__, is_away=True) from None
        if answer.status_code >= 300:
            reason = f"answered {answer.status_code}{_reason(answer.content)}"
            is_away = answer.status_code >= 500 or answer.status_code == 429
            raise DeliveryError(place_of(url), reason, _pause(answer), is_away)
        return _document(answer.content)


@contextmanager
def open_http() -> Iterator[Http]:
    """Connections, until the block ends."""
    with httpx2.Client(timeout=_SECONDS, follow_redirects=False) as client:
        yield Http(client)


def place_of(url: str) -> str:
    """Scheme, host and port of an address. What follows may be a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _document(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _reason(content: bytes) -> str:
    found = _document(content[:100_000])
    if isinstance(found, dict):
        parts = [found.get("message") or found.get("error"), *(found.get("errors") or ())]
        found = "; ".join(str(one) for one in parts if one)
    words = printable(str(found))[:_LONGEST_REASON] if found else ""
    return f": {words}" if words else ""


def _pause(answer: httpx2.Response) -> float | None:
    """Seconds until the receiver wants the next request, of `Retry-After` or of GitHub's own header."""
    after, end = answer.headers.get("retry-after", ""), answer.headers.get("x-ratelimit-reset", "")
    if after.isdecimal():
        return min(float(after), _LONGEST_PAUSE)
    if after:
        return _until(after)
    is_limit = answer.status_code in (403, 429) and answer.headers.get("x-ratelimit-remaining") == "0"
    return min(max(float(end) - time.time(), 1), _LONGEST_PAUSE) if is_limit and end.isdecimal() else None


def _until(date: str) -> float | None:
    try:
        return min(max(parsedate_to_datetime(date).timestamp() - time.time(), 1), _LONGEST_PAUSE)
    except (TypeError, ValueError):
        return None
