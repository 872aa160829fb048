"""The chain of signed heads in a pack: what the event log and the audit log were, so that a later cut can be proven.

Each head names the SHA-256 of the head before. The statement of a pack names the last one, so its signature covers
them all, whichever key signed each of them.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from whence.govern.evidence.signing.envelope import read_envelope
from whence.openlineage.json.wire import Json
from whence.query.answers.instants import instant

FILE = "heads.jsonl"


@dataclass(frozen=True, slots=True)
class Head:
    """A line of a file of signed heads, the SHA-256 of its statement, and the time of the statement (ISO 8601)."""

    line: bytes
    digest: str
    signed_at: str
    time: int
    """The same time (µs)."""
    previous: str | None


def read_heads(content: bytes) -> tuple[Head, ...]:
    """The lines of a file, the oldest first. Raises ValueError with the number of a line that is no head."""
    return tuple(_head(number, line) for number, line in enumerate(content.splitlines(keepends=True), 1))


def _head(number: int, line: bytes) -> Head:
    try:
        payload = read_envelope(line).payload
        match json.loads(payload):
            case {"predicate": {"signed_at": str(at), "previous": (str() | None) as previous}}:
                return Head(line, sha256(payload).hexdigest(), at, instant(at, 0), previous)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is no signed head: {error}") from None
    raise ValueError(f"line {number} is no signed head")


def heads_until(heads: Iterable[Head], at: int) -> Iterator[Head]:
    """The heads of a pack as of a time (µs): those before it, and the first one after it, which covers it. Later heads
    do not change the pack.
    """
    for one in heads:
        yield one
        if one.time >= at:
            return


def state_heads(heads: tuple[Head, ...], *, are_shown: bool) -> Json:
    """What the statement of a pack says of them."""
    return {"count": len(heads), "last": heads[-1].digest if heads else None, "shown": are_shown}


def find_broken_chain(content: bytes, stated: Json) -> str:
    """What is wrong with the heads in a pack, by its statement; empty if nothing is."""
    if not stated["shown"]:
        return "has heads, and the statement says that it has none" if content else ""
    heads = read_heads(content)
    if state_heads(heads, are_shown=True) != stated:
        return "does not end with the head that the statement names"
    before = [None, *(one.digest for one in heads)]
    broken = (number for number, one in enumerate(heads, 1) if one.previous != before[number - 1])
    return next((f"head {number} does not follow the one before it" for number in broken), "")
