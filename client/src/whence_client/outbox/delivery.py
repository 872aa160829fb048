"""One delivery of events to a collector, and what became of each of them.

>>> deliver([b"{}", b"{}"], lambda path, body: Reply(201 if path == "" else 404, b"")).taken
2
>>> deliver([b"{}"], lambda path, body: Reply(401)).problem
'it does not accept the API key, or there is none (status 401): set WHENCE_API_KEY to one of its keys'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Callable

_NO_BATCH = (404, 405, 501)
_LATER = (401, 403, 408, 425, 429)
"""Answers that may be another one later, as 5xx may: a key that is being changed, an overload."""
_TOO_LARGE = 413
_UNAUTHORIZED = 401
BATCH = "/batch"


@dataclass(frozen=True)
class Reply:
    """A collector's answer. Status 0: there was none; `reason` says why."""

    status: int
    body: bytes = b""
    reason: str = ""
    retry_after: float = 0.0


Post = Callable[[str, bytes], Reply]
"""Sends a body to the endpoint with this suffix."""


@dataclass(frozen=True)
class Delivery:
    """What became of events, in their order. The first `taken` need no other try; if `problem`, the others do.

    `refused` and `large` are among those taken: events that this collector will not have, and those that are too large
    for it or for something before it, which are kept apart.
    """

    taken: int = 0
    refused: tuple[str, ...] = ()
    large: tuple[bytes, ...] = ()
    problem: str = ""
    retry_after: float = 0.0
    batches: bool = True
    """Whether the collector takes batches."""


def deliver(lines: Sequence[bytes], post: Post, *, batches: bool = True) -> Delivery:
    """Send events, as a batch if the collector takes batches."""
    if len(lines) == 1 or not batches:
        return _deliver_singly(lines, post, batches)
    reply = post(BATCH, b"[" + b",".join(line.strip() for line in lines) + b"]")
    if reply.status in _NO_BATCH:
        return _deliver_singly(lines, post, False)
    if reply.status == _TOO_LARGE or reply.status == 400:
        return _deliver_halves(lines, post)
    if 200 <= reply.status < 300:
        return Delivery(len(lines), refused=_failures(reply.body))
    return Delivery(problem=_problem(reply), retry_after=reply.retry_after)


def _deliver_halves(lines: Sequence[bytes], post: Post) -> Delivery:
    middle = len(lines) // 2
    first = deliver(lines[:middle], post)
    if first.problem:
        return first
    return _joined(first, deliver(lines[middle:], post, batches=first.batches))


def _deliver_singly(lines: Sequence[bytes], post: Post, batches: bool) -> Delivery:
    done = Delivery(batches=batches)
    for line in lines:
        done = _joined(done, _deliver_one(line, post, batches))
        if done.problem:
            break
    return done


def _deliver_one(line: bytes, post: Post, batches: bool) -> Delivery:
    reply = post("", line.strip())
    if 200 <= reply.status < 300:
        return Delivery(1, batches=batches)
    if reply.status == _TOO_LARGE:
        return Delivery(1, large=(line,), batches=batches)
    if 400 <= reply.status < 500 and reply.status not in _LATER and reply.status not in _NO_BATCH:
        return Delivery(1, refused=(_problem(reply),), batches=batches)
    return Delivery(problem=_problem(reply), retry_after=reply.retry_after, batches=batches)


def _joined(first: Delivery, second: Delivery) -> Delivery:
    return replace(
        second,
        taken=first.taken + second.taken,
        refused=first.refused + second.refused,
        large=first.large + second.large,
    )


def _failures(body: bytes) -> tuple[str, ...]:
    try:
        failed = json.loads(body or b"{}").get("failed_events", [])
        return tuple(str(one.get("reason", "")) for one in failed)
    except (ValueError, AttributeError):
        return ()


def _problem(reply: Reply) -> str:
    if reply.status == _UNAUTHORIZED:
        return "it does not accept the API key, or there is none (status 401): set WHENCE_API_KEY to one of its keys"
    return reply.reason or f"status {reply.status}: {reply.body[:200].decode('utf-8', 'replace')}"
