"""Requests to a collector over one kept connection."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from whence_client.outbox.delivery import Reply
from whence_client.process.settings import Settings

_COMPRESSED_BYTES = 16_384
"""Bodies from this size on are compressed: column lineage repeats itself."""


class HttpPost:
    """Posts bodies to the endpoint of the settings. It never raises; a failure is a reply of status 0.

    A collector closes a connection over which nothing came for a while: then the body is sent once more, over a new
    one. An event that arrives twice counts once.

    No proxy is used: a collector is near its jobs, and a proxy's variables are meant for others.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connection: Any = None

    def __call__(self, suffix: str, body: bytes) -> Reply:
        import http.client  # half of the time that the import of this package would take

        try:
            if self._connection is None:
                return self._post(suffix, body)
            try:
                return self._post(suffix, body)
            except ConnectionError:
                self.close()
                return self._post(suffix, body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            return Reply(0, reason=f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _post(self, suffix: str, body: bytes) -> Reply:
        parts = urlsplit(self._settings.endpoint)
        headers = {"Content-Type": "application/json"}
        if self._settings.api_key:
            if not (self._settings.api_key.isascii() and self._settings.api_key.isprintable()):
                return Reply(0, reason="the API key has a line break or a letter that no key has")
            headers["Authorization"] = f"Bearer {self._settings.api_key}"
        if len(body) >= _COMPRESSED_BYTES:
            import gzip

            body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
        connection = self._connect(parts.scheme, parts.hostname or "127.0.0.1", parts.port)
        query = f"?{parts.query}" if parts.query else ""
        connection.request("POST", f"{parts.path}{suffix}{query}", body, headers)
        response = connection.getresponse()
        content = response.read()
        retry = response.getheader("Retry-After") or ""
        return Reply(response.status, content, retry_after=float(retry) if retry.isdigit() else 0.0)

    def _connect(self, scheme: str, host: str, port: int | None) -> Any:
        import http.client

        if self._connection is None:
            kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
            self._connection = kind(host, port, timeout=self._settings.timeout)
        return self._connection
