"""JSON from outside: decoding within limits, the canonical form, JSON pointers, safe access to unknown values."""

from collections.abc import Iterator
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import msgspec

from whence.errors import EventError
from whence.openlineage.json.interning import decode_interned

Json = dict[str, Any]

MAX_DEPTH = 500
"""The maximum nesting depth: any reader of the event can follow it, however deep its own stack."""

MAX_STEP = 100
"""The maximum length of a key in a pointer: pointers are stored beside the values they point into."""

_encoder = msgspec.json.Encoder(order="sorted")


def decode(body: bytes) -> Json:
    """Decode the JSON object in `body`. Raises EventError with status 400 for anything else."""
    try:
        event = decode_interned(body)
    except UnicodeDecodeError as error:
        raise EventError("", f"the body is not UTF-8: {error.reason}", status=400) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise EventError("", f"the body is not JSON: {error}", status=400) from error
    except RecursionError as error:
        raise _too_deep() from error
    if type(event) is not dict:
        raise EventError("", "the body is not a JSON object", status=400)
    if count_brackets(body) > MAX_DEPTH and is_deeper(event, MAX_DEPTH):
        raise _too_deep()
    return event


def count_brackets(text: bytes) -> int:
    """The number of opening brackets in a JSON text: it nests no deeper."""
    return len(text) - len(text.translate(None, b"{["))


def is_deeper(value: Any, most: int) -> bool:
    """Whether a JSON value nests deeper than `most` levels."""
    depth = 0
    level: list[Any] = [value]
    while level and depth <= most:
        depth += 1
        values = (value for parent in level for value in (parent.values() if type(parent) is dict else parent))
        # Interned values are one object: visited once.
        inner = {id(value): value for value in values if type(value) is dict or type(value) is list}
        level = list(inner.values())
    return depth > most


def encode_canonical(value: object) -> bytes:
    """Encode as JSON with sorted keys and no spaces: equal values give equal bytes."""
    return _encoder.encode(value)


def event_key(canonical_event: bytes) -> str:
    """The event's key: BLAKE2b, 128 bits, as 32 hex digits (docs/explanation/state.md)."""
    return blake2b(canonical_event, digest_size=16).hexdigest()


def pointer_step(key: str | int) -> str:
    """One step of a JSON pointer (RFC 6901), with its slash. Long keys are cut; U+0000 becomes U+FFFD."""
    text = str(key)[:MAX_STEP].replace("~", "~0").replace("/", "~1")
    return f"/{text_of(text)}"


def objects_in(value: object) -> Iterator[tuple[int, Json]]:
    """The objects of a list, each with its index; nothing if `value` is not a list."""
    if type(value) is list:
        for index, item in enumerate(value):
            if type(item) is dict:
                yield index, item


def members_of(value: object) -> list[tuple[str, Any]]:
    """The members of an object, sorted by key so that their original order has no effect."""
    return sorted(value.items(), key=itemgetter(0)) if type(value) is dict else []


def text_of(value: object) -> str:
    """A text without U+0000, which PostgreSQL cannot store; empty if `value` is not a text."""
    if type(value) is not str:
        return ""
    return value.replace("\0", "\ufffd") if "\0" in value else value


def _too_deep() -> EventError:
    return EventError("", f"the body nests deeper than {MAX_DEPTH} levels", status=400)
