"""Forges: what the gate needs of one, and requests to its REST API, with the errors that its answers mean."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2
import msgspec

from whence.errors import ApiError
from whence.govern.gate.judgement import Approval, Judgement
from whence.govern.gate.rendering.summary import Summary

Json = dict[str, Any]

_PAGE = 100
_MOST_PAGES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull or merge request. `repository`: as the API names it; `base`, `head`: commits; `author`: who opened it.

    `merged`: the commit that the forge made of `head` and `base`, with all that is before it in the queue; else empty.
    """

    repository: str
    number: int
    base: str
    head: str
    author: str
    is_fork: bool
    url: str = ""
    merged: str = ""

    @property
    def judged(self) -> str:
        """The commit that is judged, and has the verdict's status."""
        return self.merged or self.head


class Published(Protocol):
    """A pull request at its forge: who approves it, and where its verdict is shown."""

    @property
    def pull(self) -> PullRequest:
        """The pull request."""
        ...

    def approvals(self) -> tuple[Approval, ...]:
        """Who approves, and which commit. Raises ApiError."""
        ...

    def publish(self, judgement: Judgement, summary: Summary, link: str = "") -> None:
        """Write comment and status; nothing to a pull request from a fork. Raises ApiError."""
        ...


class Forge:
    """One forge with one token. Every method raises ApiError if it does not answer, or refuses."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = url.rstrip("/")
        self._http = httpx2.Client(headers=dict(headers), timeout=httpx2.Timeout(30, connect=10))

    def all(self, path: str) -> Iterator[Json]:
        """Every item of a list, page by page."""
        for page in range(1, _MOST_PAGES + 1):
            items = self.send("GET", path, parameters={"per_page": _PAGE, "page": page})
            yield from (one for one in items if isinstance(one, dict))
            if len(items) < _PAGE:
                return

    def send(
        self, method: str, path: str, body: Json | None = None, parameters: Mapping[str, int] | None = None
    ) -> Any:
        """The JSON of an answer."""
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            answer = self._http.request(method, self.url + path, content=content, headers=headers, params=parameters)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ApiError(self.url, str(error) or type(error).__name__) from None
        if answer.status_code >= 300:
            raise ApiError(self.url, f"{method} {path} was answered with {answer.status_code}{_reason(answer.content)}")
        try:
            return msgspec.json.decode(answer.content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ApiError(self.url, f"the answer to {method} {path} is not JSON") from None

    def close(self) -> None:
        """End the connection."""
        self._http.close()


def _reason(content: bytes) -> str:
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    message = found.get("message") or found.get("error") if isinstance(found, dict) else None
    return f": {message}" if isinstance(message, str) else ""
