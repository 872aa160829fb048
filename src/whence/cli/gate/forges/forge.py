"""Forges: what the gate needs of one, and requests to its REST API, with the errors that its answers mean."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2
import msgspec

from whence.errors import ApiError
from whence.govern.gate.judgement import Approval, Judgement
from whence.govern.gate.rendering.summary import Summary
from whence.tls import server_verification

Json = dict[str, Any]

_PAGE = 100
_MOST_PAGES = 50
PATIENCE = 120.0
"""Seconds for which a request is sent again, while a forge takes no more of them or fails."""
_PAUSE_OF_LIMIT = 60.0
"""Seconds until a forge that had too many requests is asked again, if it does not say."""


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
        timeout, verify = httpx2.Timeout(30, connect=10), server_verification(url)
        self._http = httpx2.Client(headers=dict(headers), timeout=timeout, verify=verify)

    def all(self, path: str) -> Iterator[Json]:
        """Every item of a list, page by page."""
        for page in range(1, _MOST_PAGES + 1):
            items = self.send("GET", path, parameters={"per_page": _PAGE, "page": page})
            yield from (one for one in items if isinstance(one, dict))
            if len(items) < _PAGE:
                return
        raise ApiError(self.url, f"{path} has more than {_PAGE * _MOST_PAGES:,} items, which are not read")

    def send(
        self, method: str, path: str, body: Json | None = None, parameters: Mapping[str, int] | None = None
    ) -> Any:
        """The JSON of an answer."""
        return self._document(method, path, self._send(method, path, body, parameters))

    def find(self, path: str) -> Any:
        """The JSON of what is at a path; None if there is nothing, or nothing that the token may see."""
        answer = self._send("GET", path)
        is_hidden = answer.status_code in (403, 404) and not _is_limit(answer)
        return None if is_hidden else self._document("GET", path, answer)

    def delete(self, path: str) -> None:
        """Delete what is at a path, if it is still there."""
        answer = self._send("DELETE", path)
        if answer.status_code >= 300 and answer.status_code != 404:
            raise self._refusal("DELETE", path, answer)

    def _send(
        self, method: str, path: str, body: Json | None = None, parameters: Mapping[str, int] | None = None
    ) -> httpx2.Response:
        """An answer of whatever status, once the forge takes requests."""
        give_up, attempt = time.monotonic() + PATIENCE, 0
        while True:
            answer = self._send_once(method, path, body, parameters)
            pause = _pause(method, answer, attempt)
            if pause is None or time.monotonic() + pause > give_up:
                break
            time.sleep(pause)
            attempt += 1
        if isinstance(answer, httpx2.Response):
            return answer
        raise ApiError(self.url, str(answer) or type(answer).__name__)

    def _send_once(
        self, method: str, path: str, body: Json | None, parameters: Mapping[str, int] | None
    ) -> httpx2.Response | httpx2.TransportError:
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            return self._http.request(method, self.url + path, content=content, headers=headers, params=parameters)
        except httpx2.TransportError as error:
            return error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ApiError(self.url, str(error) or type(error).__name__) from None

    def _document(self, method: str, path: str, answer: httpx2.Response) -> Any:
        if answer.status_code >= 300:
            raise self._refusal(method, path, answer)
        try:
            return msgspec.json.decode(answer.content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ApiError(self.url, f"the answer to {method} {path} is not JSON") from None

    def _refusal(self, method: str, path: str, answer: httpx2.Response) -> ApiError:
        reason = f"{method} {path} was answered with {answer.status_code}{_reason(answer.content)}"
        if _is_limit(answer):
            reason += f"; run the job again in {_pause_of_limit(answer.headers):.0f} s, when it takes requests again"
        return ApiError(self.url, reason)

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


def _pause(method: str, answer: httpx2.Response | httpx2.TransportError, attempt: int) -> float | None:
    """Seconds until a request is sent again; None: never. What a forge failed to write it may have written."""
    if isinstance(answer, httpx2.Response) and _is_limit(answer):
        return _pause_of_limit(answer.headers)
    return 2.0**attempt if method == "GET" and _may_pass(answer) else None


def _may_pass(answer: httpx2.Response | httpx2.TransportError) -> bool:
    """Whether a failure may be gone soon: the forge's own, or a connection that ended; a wrong URL has none."""
    if isinstance(answer, httpx2.Response):
        return answer.status_code >= 500
    return isinstance(answer, httpx2.ReadError | httpx2.WriteError | httpx2.ReadTimeout | httpx2.RemoteProtocolError)


def _is_limit(answer: httpx2.Response) -> bool:
    """Whether a forge refuses a request for there being too many. GitHub does so with 403, too."""
    has_end = "retry-after" in answer.headers or answer.headers.get("x-ratelimit-remaining") == "0"
    return answer.status_code == 429 or (answer.status_code == 403 and has_end)


def _pause_of_limit(headers: Mapping[str, str]) -> float:
    """GitHub has seconds, or the time (s since 1970) of the end of its limit; GitLab has seconds."""
    after, end = headers.get("retry-after", ""), headers.get("x-ratelimit-reset", "")
    if after.isdecimal():
        return float(after)
    return max(float(end) - time.time(), 1) if end.isdecimal() else _PAUSE_OF_LIMIT
