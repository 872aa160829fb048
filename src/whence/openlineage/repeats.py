"""Decoding wide column lineage: equal input fields become one object.

Spark's older form of column lineage copies what touches the whole output into every field (reference rule 42): 1,000
columns are 1,000,000 input fields, and 1,000 different ones. Decoded one by one they take gigabytes.
"""

from typing import Any

import msgspec

WIDE_BYTES = 1 << 20
"""Bodies from this size on are looked through for repeats; in smaller ones they do no harm."""

_MOST_REMEMBERED = 65_536
_MARK = b'"inputFields"'
_EACH = "*"

Place = tuple[str, ...]

FACETS: Place = ("columnLineage", "fields", _EACH, "inputFields", _EACH)
"""Where a dataset's facets have input fields."""

EVENT: Place = ("outputs", _EACH, "facets", *FACETS)
"""Where an event has them."""

_decode_any = msgspec.json.Decoder().decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_either = msgspec.json.Decoder(list[msgspec.Raw] | dict[str, msgspec.Raw]).decode

_Seen = dict[bytes, Any]


def decode_repeats(body: bytes, place: Place = EVENT) -> Any:
    """Any JSON value, equal to what a plain decoder gives, but for equal input fields that are one object.

    The values must not be changed. Raises what the decoder raises.
    """
    if len(body) < WIDE_BYTES or _MARK not in body:
        return _decode_any(body)
    return _along(body, place, {})


def _along(text: bytes | msgspec.Raw, place: Place, seen: _Seen) -> Any:
    """The value, followed down to the input fields, where it has that shape."""
    if not place:
        return _once(bytes(text), seen)
    step, further = place[0], place[1:]
    try:
        members = _decode_either(text) if step == _EACH else _decode_members(text)
    except msgspec.ValidationError:
        return _decode_any(text)
    if isinstance(members, list):
        return [_along(one, further, seen) for one in members]
    wanted = members if step == _EACH else (step,)
    return {name: _along(one, further, seen) if name in wanted else _decode_any(one) for name, one in members.items()}


def _once(text: bytes, seen: _Seen) -> Any:
    found = seen.get(text)
    if found is None:
        found = _decode_any(text)
        if len(seen) < _MOST_REMEMBERED:
            seen[text] = found
    return found
