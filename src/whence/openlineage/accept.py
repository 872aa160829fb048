"""Accepting a body: decoded once, redacted, read, and named by its canonical hash, all before anything is stored."""

from dataclasses import dataclass, replace

from whence.model.events import Event
from whence.openlineage.authority import FULL, WITHHELD, Authority
from whence.openlineage.governed import find_restriction
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
    restricted: bool = False
    """Whether a part of it is not applied, because the sender is not entitled to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A JSON object that is fit to be stored, whether or not it is an event: without secrets, and named."""

    payload: bytes
    key: str
    value: Json
    redacted: int = 0
    """How many secrets were in it."""
    restricted: bool = False
    """Whether it was given a restriction (`authority.Restriction`)."""


def accept(body: bytes, *, strict: bool = False, authority: Authority = FULL) -> Accepted:
    """Read one event's body. Strict also holds it to the specification's schemas. What its sender has no authority for
    is recorded in it, and withheld.

    Raises EventError: status 400 if the body is no JSON object, 422 with a JSON pointer if it is no event, 403 if
    nothing of it may be applied.
    """
    event = decode(body)
    if strict:
        from whence.openlineage.strict import require_valid

        require_valid(event)
    sealed = _sealed(body, event, authority)
    value, redacted = read_event(sealed.value), sealed.redacted
    said = (f"/: {redacted} secret{'s' if redacted > 1 else ''} redacted",) if redacted else ()
    return Accepted(
        payload=sealed.payload,
        key=sealed.key,
        event=value,
        warnings=(*value.warnings, *said),
        restricted=sealed.restricted,
    )


def seal(body: bytes) -> Sealed:
    """What `accept` does but for reading the event, for those who read it next. Sealing again changes nothing.

    The event keeps the restriction that is recorded in it. Raises EventError with status 400 if the body is no JSON
    object.
    """
    return _sealed(body, decode(body), None)


def restrict(sealed: Sealed, authority: Authority) -> Sealed:
    """The event of a sender with this authority, in the place of any restriction that it has."""
    return _restricted(sealed, canonical(sealed.value), authority)


def _sealed(body: bytes, event: Json, authority: Authority | None) -> Sealed:
    text = canonical(event)
    payload, redacted = (text if len(body) > _MOST_TIMES * len(text) else body), 0
    if kinds := suspects(text):
        event, redacted = redact(event, kinds)
        if redacted:
            payload = text = canonical(event)
    sealed = Sealed(payload=payload, key=key_of(text), value=event, redacted=redacted)
    return sealed if authority is None else _restricted(sealed, text, authority)


def _restricted(sealed: Sealed, text: bytes, authority: Authority) -> Sealed:
    restriction = find_restriction(sealed.value, text, authority)
    if not restriction and WITHHELD not in sealed.value:
        return sealed
    bare = {name: value for name, value in sealed.value.items() if name != WITHHELD}
    event = bare | {WITHHELD: restriction.document} if restriction else bare
    text = canonical(event)
    return replace(sealed, payload=text, key=key_of(text), value=event, restricted=bool(restriction))
