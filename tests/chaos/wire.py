"""A client over raw sockets that sends again until it is answered, as OpenLineage clients do."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

JSON = "application/json"
MOST_TRIES = 1_000
"""Of one request: a server that never answers it is a finding, not a reason to wait for ever."""
PAUSE_SECONDS = 0.3
"""Between tries while nobody listens, for `whence up` itself was killed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


def post(path: str, body: bytes) -> bytes:
    """A request, as bytes."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def get(path: str) -> bytes:
    """A request, as bytes."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


class Wire:
    """One keep-alive connection that is made again whenever it breaks. Counts how often it did in `broken`."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.broken = 0

    async def ask(self, request: bytes) -> Answer:
        """The answer to one request."""
        (answer,) = await self.exchange([request])
        return answer

    async def exchange(self, requests: Sequence[bytes]) -> list[Answer]:
        """Pipeline the requests; after a break those without an answer go again, one by one."""
        answers: list[Answer] = []
        tries, width = 0, len(requests)
        while len(answers) < len(requests):
            before = len(answers)
            try:
                await self._pipeline(requests[before : before + width], answers)
            except (OSError, asyncio.IncompleteReadError) as error:
                self.close()
                self.broken, width = self.broken + 1, 1
                if isinstance(error, ConnectionRefusedError):
                    await asyncio.sleep(PAUSE_SECONDS)
            tries = 0 if len(answers) > before else tries + 1
            assert tries < MOST_TRIES, requests[before][:500]
        return answers

    async def _pipeline(self, requests: Sequence[bytes], answers: list[Answer]) -> None:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20)
        reader, writer = self._streams
        writer.write(b"".join(requests))
        for _ in requests:
            answer = await _answer(reader)
            answers.append(answer)
            if answer.headers.get("connection") == "close":
                self.close()
                return

    def close(self) -> None:
        """Drop the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _answer(reader: asyncio.StreamReader) -> Answer:
    status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines if line)
    headers = {name.lower(): value for name, _, value in pairs}
    body = await reader.readexactly(int(headers["content-length"]))
    return Answer(int(status.split()[1]), headers, body)
