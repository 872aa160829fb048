"""Request bodies, read and decompressed within limits."""

import asyncio
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from whence.api.settings import Settings

INLINE_BYTES = 256 << 10
"""Bodies up to this size are processed in the event loop; larger ones in a thread, so that others need not wait."""

_GZIP = 16 + zlib.MAX_WBITS
_PIECE_BYTES = 64 << 10
_MOST_MEMBERS = 10_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rejected body. `kept` is the part of it to keep in quarantine."""

    status: int
    reason: str
    kept: bytes = b""


class BodyReader:
    """Reads bodies, and limits the memory of those in flight: their bytes, and the number being processed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._held = 0
        # One thread: a decoded body takes many times its size, and Python would not process two any faster.
        self._large = ThreadPoolExecutor(1, "large")

    @property
    def held(self) -> int:
        """The bytes of large bodies that are being read, or not yet released."""
        return self._held

    async def read(self, request: Request, encoding: str) -> bytes | Refusal:
        """The decompressed body; `encoding` is its content encoding, in lower case. `release` it after the answer.

        Rejected: 400 not gzip, 408 too slow, 413 too large, 415 other encodings, 503 too many. Raises ClientDisconnect.
        """
        if encoding not in ("identity", "gzip", "x-gzip"):
            return Refusal(415, f"the content encoding {encoding!r} is not supported; gzip is")
        body = await self._raw(request)
        if encoding != "identity" and not isinstance(body, Refusal):
            body = await self._decompressed(body)
        if isinstance(body, bytes) and len(body) > INLINE_BYTES:
            self._held += len(body)
        return body

    def release(self, body: bytes | Refusal) -> None:
        """Release a body that is no longer needed."""
        if isinstance(body, bytes) and len(body) > INLINE_BYTES:
            self._held -= len(body)

    async def beside(self, size: int, work: Callable[[], _T]) -> _T:
        """Run small work here, and large work in the thread for large bodies, one after the other."""
        if size <= INLINE_BYTES:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._large, work)

    def close(self) -> None:
        """End the thread."""
        self._large.shutdown(wait=False, cancel_futures=True)

    async def _raw(self, request: Request) -> bytes | Refusal:
        # Most bodies arrive in one message, which needs no timer and no copy.
        first, more = await _next_chunk(request)
        if not more and len(first) <= self._settings.max_body_bytes:
            return first
        body = bytearray(first)
        self._held += len(first)
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                return await self._rest(request, body, more)
        except TimeoutError:
            reason = f"the body did not arrive within {self._settings.body_seconds:g} s"
            return Refusal(408, reason, bytes(body[: self._settings.kept_bytes]))
        finally:
            self._held -= len(body)

    async def _rest(self, request: Request, body: bytearray, more: bool) -> bytes | Refusal:
        bounds = self._settings
        while True:
            if len(body) > bounds.max_body_bytes:
                return _too_large(bounds, body)
            if self._held > bounds.max_reading_bytes:
                return Refusal(503, "too many large bodies are being received at once")
            if not more:
                return bytes(body)
            chunk, more = await _next_chunk(request)
            body += chunk
            self._held += len(chunk)

    async def _decompressed(self, body: bytes) -> bytes | Refusal:
        bounds = self._settings
        stream = zlib.decompressobj(_GZIP)
        try:
            data = stream.decompress(body, min(INLINE_BYTES, bounds.max_body_bytes + 1))
            if not stream.eof or stream.unused_data:
                data = await self.beside(bounds.max_body_bytes, lambda: inflate(body, bounds.max_body_bytes + 1))
        except (zlib.error, EOFError) as error:
            return Refusal(400, f"the body is not sound gzip: {error}", body[: bounds.kept_bytes])
        return data if len(data) <= bounds.max_body_bytes else _too_large(bounds, data)


async def _next_chunk(request: Request) -> tuple[bytes, bool]:
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), message.get("more_body", False)


def inflate(body: bytes, most: int) -> bytes:
    """Decompress the first `most` bytes of all consecutive members (RFC 1952). Raises zlib.error, EOFError."""
    data, members, stream = bytearray(), 1, zlib.decompressobj(_GZIP)
    for start in range(0, len(body), _PIECE_BYTES):
        # In pieces, because zlib copies the rest after each member's end.
        piece = body[start : start + _PIECE_BYTES]
        while piece:
            if stream.eof:
                members, stream = members + 1, zlib.decompressobj(_GZIP)
            if members > _MOST_MEMBERS:
                raise EOFError(f"it has more than {_MOST_MEMBERS} members")
            data += stream.decompress(piece, most - len(data))
            if len(data) >= most:
                return bytes(data)
            piece = stream.unused_data
    if not stream.eof:
        raise EOFError("it ends too early")
    return bytes(data)


def _too_large(bounds: Settings, body: bytes | bytearray) -> Refusal:
    reason = f"the body is larger than {bounds.max_body_bytes} bytes (after decompression)"
    return Refusal(413, reason, bytes(body[: bounds.kept_bytes]))
