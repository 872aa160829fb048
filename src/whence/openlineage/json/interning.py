"""Interned decoding of wide column lineage: equal input fields become one object.

Older Spark column lineage copies every source of the whole output into every field (reference rule 42): 1,000 columns
have 1,000,000 input fields, of which 1,000 differ. Decoding each one separately takes gigabytes.
"""

from typing import Any

import msgspec

WIDE_BYTES = 1 << 20
"""Only bodies of at least this size are searched for repeats; in smaller ones they do no harm."""

_MAX_INTERNED = 65_536
_MARK = b'"inputFields"'
_EVERY = "*"

Path = tuple[str, ...]

FACETS: Path = ("columnLineage", "fields", _EVERY, "inputFields", _EVERY)
"""The path of input fields in a dataset's facets."""

EVENT: Path = ("outputs", _EVERY, "facets", *FACETS)
"""The path of input fields in an event."""

_decode_any = msgspec.json.Decoder().decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_either = msgspec.json.Decoder(list[msgspec.Raw] | dict[str, msgspec.Raw]).decode

_Seen = dict[bytes, Any]


def decode_interned(body: bytes, path: Path = EVENT) -> Any:
    """Decode a JSON value like a plain decoder, except that equal input fields are one object.

    The result must not be changed. Raises the decoder's errors.
    """
    if len(body) < WIDE_BYTES or _MARK not in body:
        return _decode_any(body)
    return _decode_along(body, path, {})


def _decode_along(text: bytes | msgspec.Raw, path: Path, seen: _Seen) -> Any:
    """Decode a value along `place`, down to the input fields, as far as it has that shape."""
    if not path:
        return _decode_once(bytes(text), seen)
    step, rest = path[0], path[1:]
    try:
        members = _decode_either(text) if step == _EVERY else _decode_members(text)
    except msgspec.ValidationError:
        return _decode_any(text)
    if isinstance(members, list):
        return [_decode_along(member, rest, seen) for member in members]
    wanted = members if step == _EVERY else (step,)
    return {
        name: _decode_along(member, rest, seen) if name in wanted else _decode_any(member)
        for name, member in members.items()
    }


def _decode_once(text: bytes, seen: _Seen) -> Any:
    value = seen.get(text)
    if value is None:
        value = _decode_any(text)
        if len(seen) < _MAX_INTERNED:
            seen[text] = value
    return value
