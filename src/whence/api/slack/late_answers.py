"""Answers that take longer than Slack waits: sent to the `response_url` of their command once they are there.

Slack takes them for 30 minutes, in the form of an immediate answer, as
https://docs.slack.dev/interactivity/handling-user-interaction says. The address comes with a signed request, and is
taken only where it is on the host that the settings name: what people asked for goes nowhere else.
"""

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx2
import msgspec

from whence.api.slack import messages
from whence.govern.slack_blocks import Block, document

_log = logging.getLogger(__name__)
_VALID_SECONDS = 29 * 60
"""Slack takes an answer for 30 minutes."""
_PAUSES = (2.0, 20.0)
"""Seconds before the second and the third attempt; Slack takes five messages at an address."""
_TIMEOUT = httpx2.Timeout(10, connect=5)


def is_base(text: str) -> bool:
    """Whether answers may be sent to a host: over https, or to this machine."""
    try:
        parts = urlsplit(text)
        is_whole = bool(parts.hostname) and parts.username is None and parts.path in ("", "/") and not parts.query
        return is_whole and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or "")))
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    return host == "localhost" or ip_address(host).is_loopback


def is_at(url: str, base: str) -> bool:
    """Whether an address is on the host of a base: of the same scheme, name and port, and for nobody by name."""
    try:
        sent, allowed = urlsplit(url), urlsplit(base)
        places = [(one.scheme, one.hostname, one.port or {"https": 443}.get(one.scheme)) for one in (sent, allowed)]
    except ValueError:
        return False
    return places[0] == places[1] and bool(sent.hostname) and sent.username is None and sent.password is None


@dataclass(slots=True)
class LateAnswers:
    """The answers that are on their way. `base`: the scheme, host and port to which they are sent."""

    base: str
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def takes(self, url: str) -> bool:
        """Whether an answer can be sent to an address."""
        return is_at(url, self.base)

    def send(self, url: str, answer: Awaitable[Block]) -> None:
        """Send an answer to an address of `takes` as soon as it is there, and before Slack no longer takes it."""
        task = asyncio.ensure_future(self._send_in_time(url, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self) -> None:
        """Wait until all are sent, or given up."""
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """Give up what is not sent yet."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _send_in_time(self, url: str, answer: Awaitable[Block]) -> None:
        try:
            async with asyncio.timeout(_VALID_SECONDS):
                await self._post(url, await _answered(answer))
        except TimeoutError:
            _log.warning("an answer for Slack was not there, or not taken, within %d s", _VALID_SECONDS)

    async def _post(self, url: str, body: Block) -> None:
        content = msgspec.json.encode(body)
        async with httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=False) as client:
            for pause in (*_PAUSES, None):
                problem, is_final = await _attempt(client, url, content)
                if not problem:
                    return
                if is_final or pause is None:
                    break
                await asyncio.sleep(pause)
        # The path of the address is a secret.
        _log.warning("Slack at %s did not take a late answer: %s", self.base, problem)


async def _answered(answer: Awaitable[Block]) -> Block:
    """The answer; of a mistake of ours, that there is none. The person waits, and nobody else would tell them."""
    try:
        return await answer
    except Exception:
        _log.exception("a command of Slack failed")
        return document(messages.failure_message())


async def _attempt(client: httpx2.AsyncClient, url: str, content: bytes) -> tuple[str, bool]:
    """Why an answer was not taken, empty if it was; and whether another attempt is useless."""
    try:
        answer = await client.post(url, content=content, headers={"Content-Type": "application/json"})
    except httpx2.HTTPError as error:
        return str(error) or type(error).__name__, False
    if answer.is_success:
        return "", True
    return f"it answered {answer.status_code}", answer.status_code < 500 and answer.status_code != 429
