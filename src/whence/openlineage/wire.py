"""JSON off the wire: decoding within bounds, the canonical form, JSON pointers, safe looks into unknown values."""

from collections.abc import Iterator
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import msgspec

from whence.errors import EventError
from whence.openlineage.repeats import decode_repeats

Json = dict[str, Any]

MAX_DEPTH = 500
"""How deep values may nest: far less than what any reader of the event, however deep its own stack, can follow."""

MAX_STEP = 100
"""How much of one key a pointer shows: pointers are stored beside what they point into."""

_encoder = msgspec.json.Encoder(order="sorted")


def decode(body: bytes) -> Json:
    """The JSON object in `body`. Raises EventError with status 400 for anything else."""
    try:
        event = decode_repeats(body)
    except UnicodeDecodeError as error:
        raise EventError("", f"the body is not UTF-8: {error.reason}", status=400) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise EventError("", f"the body is not JSON: {error}", status=400) from error
    except RecursionError as error:
        raise _too_deep() from error
    if type(event) is not dict:
        raise EventError("", "the body is not a JSON object", status=400)
    if len(body) - len(body.translate(None, b"{[")) > MAX_DEPTH and _is_too_deep(event):
        raise _too_deep()
    return event


def canonical(value: object) -> bytes:
    """JSON with sorted keys and no spaces: equal for equal values."""
    return _encoder.encode(value)


def key_of(canonical_event: bytes) -> str:
    """The event's key: BLAKE2b, 128 bits, as 32 hex digits (docs/state.md)."""
    return blake2b(canonical_event, digest_size=16).hexdigest()


def step(key: str | int) -> str:
    """One step of a JSON pointer (RFC 6901), with its slash; of endless keys the beginning, and U+FFFD for U+0000."""
    text = str(key)[:MAX_STEP].replace("~", "~0").replace("/", "~1")
    return f"/{text_of(text)}"


def objects_in(value: object) -> Iterator[tuple[int, Json]]:
    """The objects of a list, each with its index; nothing if `value` is no list."""
    if type(value) is list:
        for index, one in enumerate(value):
            if type(one) is dict:
                yield index, one


def members_of(value: object) -> list[tuple[str, Any]]:
    """The members of an object, sorted by key so that their order on the wire is without effect."""
    return sorted(value.items(), key=itemgetter(0)) if type(value) is dict else []


def text_of(value: object) -> str:
    """A free text, without U+0000, which PostgreSQL cannot hold; empty if `value` is no text."""
    if type(value) is not str:
        return ""
    return value.replace("\0", "\ufffd") if "\0" in value else value


def _is_too_deep(event: Json) -> bool:
    depth = 0
    level: list[Any] = [event]
    while level and depth <= MAX_DEPTH:
        depth += 1
        values = (value for one in level for value in (one.values() if type(one) is dict else one))
        # What repeats is one object: looked into once.
        inner = {id(value): value for value in values if type(value) is dict or type(value) is list}
        level = list(inner.values())
    return depth > MAX_DEPTH


def _too_deep() -> EventError:
    return EventError("", f"the body nests deeper than {MAX_DEPTH} levels", status=400)
