"""A connection to one API: requests, typed errors, and retries during overload."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec

from whence.errors import (
    AccessError,
    AmbiguousNodeError,
    ApiError,
    NodeNotFoundError,
    QuestionError,
    ServerVersionError,
)
from whence.tls import server_verification

_LONGEST_PAUSE = 5.0
"""The longest pause between two attempts (s)."""


class Problem(msgspec.Struct, frozen=True):
    """An error response (RFC 9457). `name` and `candidates`: for a name that matches no node, or several."""

    status: int
    reason: str = ""
    pointer: str = ""
    name: str | None = None
    candidates: tuple[str, ...] | None = None


class Connection:
    """Sends requests to one API with one key. Thread-safe."""

    def __init__(self, url: str, key: str = "", *, timeout: float = 120, patience: float = 10) -> None:
        """`timeout`: seconds to wait for an answer; `patience`: seconds to retry while the server is overloaded.

        Raises ApiError if `url` is malformed.
        """
        self.url = _checked(url)
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self.has_key = bool(key)
        self._patience = patience
        try:
            verify = server_verification(self.url)
            self._http = httpx2.Client(headers=headers, timeout=httpx2.Timeout(timeout, connect=10), verify=verify)
        except (ValueError, ssl.SSLError, OSError) as error:
            raise ApiError(self.url, f"cannot be given from here: {error}") from None

    def get(self, path: str, parameters: Mapping[str, Any]) -> Any:
        """The JSON of an answer. Lists among the parameters are repeated, None is left out.

        Raises AccessError, NodeNotFoundError, AmbiguousNodeError, QuestionError, ServerVersionError, ApiError.
        """
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._patiently(lambda: self._http.get(self.url + path, params=given))

    def get_bytes(self, path: str, parameters: Mapping[str, Any]) -> bytes:
        """The body of an answer that is not JSON. Raises as `get`."""
        given = {name: value for name, value in parameters.items() if value is not None}
        content: bytes = self._patiently(lambda: self._http.get(self.url + path, params=given), _content)
        return content

    def put(self, path: str, document: object) -> Any:
        """Replace what is at a path by a JSON document; the JSON of the answer. Raises as `get`."""
        content, headers = msgspec.json.encode(document), {"Content-Type": "application/json"}
        return self._patiently(lambda: self._http.put(self.url + path, content=content, headers=headers))

    def post(self, path: str, document: object) -> Any:
        """Ask with a JSON document; the JSON of the answer. Raises as `get`."""
        content, headers = msgspec.json.encode(document), {"Content-Type": "application/json"}
        return self._patiently(lambda: self._http.post(self.url + path, content=content, headers=headers))

    def delete(self, path: str) -> Any:
        """Delete what is at a path; the JSON of the answer. Raises as `get`."""
        return self._patiently(lambda: self._http.delete(self.url + path))

    def _patiently(
        self, send: Callable[[], httpx2.Response], read: Callable[[httpx2.Response, str], Any] | None = None
    ) -> Any:
        give_up = time.monotonic() + self._patience
        while True:
            response = self._once(send)
            pause = _pause(response)
            if response.status_code != 503 or time.monotonic() + pause > give_up:
                return self._read(response, read or _decoded)
            time.sleep(pause)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def _once(self, send: Callable[[], httpx2.Response]) -> httpx2.Response:
        try:
            return send()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ApiError(self.url, _explain(error)) from None

    def _read(self, response: httpx2.Response, read: Callable[[httpx2.Response, str], Any]) -> Any:
        if response.status_code in (200, 202):
            return read(response, self.url)
        try:
            problem = msgspec.json.decode(response.content, type=Problem)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
            raise ServerVersionError(
                self.url,
                f"its answer has an unknown form (status {response.status_code}); check that this is a Whence server",
            ) from None
        self._refuse(problem)

    def _refuse(self, problem: Problem) -> None:
        match problem:
            case Problem(status=401):
                raise refused_key(self.url, has_key=self.has_key)
            case Problem(status=403, reason=reason):
                raise AccessError(f"{self.url}: {reason}", 403)
            case Problem(status=404, name=str(name), candidates=tuple(nearest)):
                raise NodeNotFoundError(name, nearest)
            case Problem(status=404, reason=reason) if reason.startswith(("SLO ", "Incident ")):
                raise QuestionError("", reason)
            case Problem(status=404):
                raise ServerVersionError(self.url, "it does not support this question")
            case Problem(status=422, name=str(name), candidates=tuple(candidates)):
                raise AmbiguousNodeError(name, candidates)
            case Problem(status=409, reason=reason, pointer="/act" | "/end" | "/node"):
                raise QuestionError("", reason)
            case Problem(status=400 | 422, reason=reason, pointer=pointer):
                raise QuestionError(pointer.removeprefix("/query/").lstrip("/"), reason)
        raise ApiError(self.url, problem.reason or f"status {problem.status}")


def _decoded(response: httpx2.Response, url: str) -> Any:
    try:
        return msgspec.json.decode(response.content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ServerVersionError(url, "its answer is not JSON; check that this is a Whence server") from None


def _content(response: httpx2.Response, _url: str) -> bytes:
    return response.content


def refused_key(url: str, *, has_key: bool) -> AccessError:
    """The error for a missing key, or one that a server does not accept."""
    missing = "it needs an API key: set WHENCE_API_KEY, or store a key with `whence login`"
    return AccessError(f"{url}: {'it does not accept the API key' if has_key else missing}")


def _checked(url: str) -> str:
    whole = (url if "://" in url else f"http://{url}").rstrip("/")
    try:
        parts = urlsplit(whole)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ApiError(url, "it is no address of a server; write https://HOST or http://HOST:PORT")
    return whole


def _pause(response: httpx2.Response) -> float:
    retry_after = response.headers.get("retry-after", "")
    return min(float(retry_after) if retry_after.isdecimal() else 1.0, _LONGEST_PAUSE)


def _explain(error: Exception) -> str:
    """Why there is no answer. The library wraps the error of the operating system."""
    for cause in _causes(error):
        match cause:
            case ConnectionRefusedError():
                return "nothing listens there; is `whence up` running?"
            case socket.gaierror():
                return "the name of the host cannot be resolved"
            case ssl.SSLCertVerificationError():
                return f"its certificate is not trusted: {cause.verify_message}"
            case ssl.SSLError():
                return "it does not speak https; try http://"
            case httpx2.TimeoutException():
                return "no answer in time"
            case httpx2.RemoteProtocolError():
                return "it ended the connection without an answer; does it speak https?"
    return str(error) or type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
