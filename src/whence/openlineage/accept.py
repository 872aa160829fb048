"""Accepting a body: decoded once, redacted, read, and named by its canonical hash, all before anything is stored."""

from dataclasses import dataclass

from whence.model.events import Event
from whence.openlineage.read import read_event
from whence.openlineage.redact import redact, suspects
from whence.openlineage.wire import Json, canonical, decode, key_of

_MOST_TIMES = 8
"""How much longer than its canonical JSON a body may be kept: it is indented, or has escapes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An event fit to be stored. `payload` is the body as it came, unless redaction changed it or it is mostly blanks;
    `key`: 32 hex digits.
    """

    payload: bytes
    key: str
    event: Event
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A JSON object that is fit to be stored, whether or not it is an event: without secrets, and named."""

    payload: bytes
    key: str
    value: Json
    redacted: int = 0
    """How many secrets were in it."""


def accept(body: bytes, *, strict: bool = False) -> Accepted:
    """Read one event's body. Strict also holds it to the specification's schemas.

    Raises EventError: status 400 if the body is no JSON object, 422 with a JSON pointer if it is no event.
    """
    event = decode(body)
    if strict:
        from whence.openlineage.strict import require_valid

        require_valid(event)
    sealed = _sealed(body, event)
    value, redacted = read_event(sealed.value), sealed.redacted
    said = (f"/: {redacted} secret{'s' if redacted > 1 else ''} redacted",) if redacted else ()
    return Accepted(payload=sealed.payload, key=sealed.key, event=value, warnings=(*value.warnings, *said))


def seal(body: bytes) -> Sealed:
    """What `accept` does but for reading the event, for those who read it next. Sealing again changes nothing.

    Raises EventError with status 400 if the body is no JSON object.
    """
    return _sealed(body, decode(body))


def _sealed(body: bytes, event: Json) -> Sealed:
    text = canonical(event)
    if kinds := suspects(text):
        event, redacted = redact(event, kinds)
        if redacted:
            text = canonical(event)
            return Sealed(payload=text, key=key_of(text), value=event, redacted=redacted)
    is_blown_up = len(body) > _MOST_TIMES * len(text)
    return Sealed(payload=text if is_blown_up else body, key=key_of(text), value=event)
