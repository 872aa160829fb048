"""Accepting a body: decoded once, redacted, read, and named by its canonical hash, all before anything is stored."""

from dataclasses import dataclass

from whence.model.events import Event
from whence.openlineage.read import read_event
from whence.openlineage.redact import redact, suspects
from whence.openlineage.wire import canonical, decode, key_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An event fit to be stored. `payload` is the body as it came unless redaction changed it; `key`: 32 hex digits."""

    payload: bytes
    key: str
    event: Event
    warnings: tuple[str, ...]


def accept(body: bytes, *, strict: bool = False) -> Accepted:
    """Read one event's body. Strict also holds it to the specification's schemas.

    Raises EventError: status 400 if the body is no JSON object, 422 with a JSON pointer if it is no event.
    """
    event = decode(body)
    if strict:
        from whence.openlineage.strict import require_valid

        require_valid(event)
    payload, text, redacted = body, canonical(event), 0
    if kinds := suspects(text):
        event, redacted = redact(event, kinds)
        if redacted:
            payload = text = canonical(event)
    value = read_event(event)
    said = (f"/: {redacted} secret{'s' if redacted > 1 else ''} redacted",) if redacted else ()
    return Accepted(payload=payload, key=key_of(text), event=value, warnings=(*value.warnings, *said))
