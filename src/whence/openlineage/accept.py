"""Acceptance of bodies: decoded once, redacted, read, and identified by a canonical hash, before anything is stored."""

from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from whence.model.events import DatasetEvent, Event
from whence.openlineage.authority.governed_parts import find_restriction
from whence.openlineage.authority.restrictions import FULL, NOT_APPLIED, WITHHELD, Authority, Need, event_need
from whence.openlineage.checked_parts import check_split
from whence.openlineage.json.split_event import SplitEvent, split_event
from whence.openlineage.json.wire import Json, decode, encode_canonical, event_key, text_of
from whence.openlineage.message_keys import message_key
from whence.openlineage.read import read_accepted, read_event
from whence.openlineage.redaction.redact import find_suspect_kinds, redact

Subject = Literal["job", "dataset"]
"""What an event is about."""

_MAX_EXPANSION = 8
"""A longer body, relative to its canonical JSON, is stored as canonical JSON: it is mostly indentation or escapes."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """An event ready to be stored. `payload` is the original body, unless redaction changed it or it is mostly blanks.
    `key` is 32 hex digits.
    """

    payload: bytes
    key: str
    owner: str
    """Its message key (`message_keys.message_key`)."""
    need: Need
    """The action and namespace that its sender needs (`restrictions.event_need`)."""
    producer: str
    warnings: tuple[str, ...]
    restricted: bool = False
    """Whether a part of it is not applied because the sender is not entitled to it."""
    subject: Subject = "job"

    @property
    def event(self) -> Event:
        """The event, read anew."""
        return read_accepted(self.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A JSON object ready to be stored, whether or not it is an event: redacted, and identified by its key."""

    payload: bytes
    key: str
    value: Json
    redacted: int = 0
    """How many secrets were masked in it."""
    restricted: bool = False
    """Whether a restriction was added to it (`authority.Restriction`); it may withhold nothing."""


def accept(
    body: bytes, *, strict: bool = False, authority: Authority = FULL, split: SplitEvent | None = None
) -> Accepted:
    """Accept one event's body. `strict` also validates it against the specification's schemas. What the sender has no
    authority for is recorded in the event and withheld. `split` is the event in the body, if it was split before.

    Raises EventError: status 400 if the body is not a JSON object, 422 with a JSON pointer if it is not an event, 403
    if no part of it may be applied.
    """
    if not strict and (known := _accept_split(body, split or split_event(body), authority)) is not None:
        return known
    event = decode(body)
    if strict:
        from whence.openlineage.validation.strict import require_valid

        require_valid(event)
    sealed = _seal_event(body, event, authority)
    read, redacted = read_event(sealed.value), sealed.redacted
    redaction_warning = (f"/: {redacted} secret{'s' if redacted > 1 else ''} redacted",) if redacted else ()
    return Accepted(
        payload=sealed.payload,
        key=sealed.key,
        owner=message_key(read),
        need=event_need(read),
        producer=read.producer,
        subject="dataset" if isinstance(read, DatasetEvent) else "job",
        warnings=(*read.warnings, *redaction_warning),
        restricted=sealed.restricted and any(one.startswith(f"/: {NOT_APPLIED}") for one in read.warnings[:1]),
    )


def _accept_split(body: bytes, split: SplitEvent | None, authority: Authority) -> Accepted | None:
    """Accept an event of which most parts were checked before; None if it must be decoded whole."""
    checked = check_split(split, authority) if split else None
    if split is None or checked is None:
        return None
    return Accepted(
        payload=_choose_payload(body, checked.text),
        key=event_key(checked.text),
        owner=checked.owner,
        need=checked.need,
        producer=text_of(split.wire.producer),
        warnings=checked.warnings,
    )


def _choose_payload(body: bytes, text: bytes) -> bytes:
    return text if len(body) > _MAX_EXPANSION * len(text) else body


def seal(body: bytes) -> Sealed:
    """Do what `accept` does except reading the event. Sealing again changes nothing.

    The event keeps its recorded restriction. Raises EventError with status 400 if the body is not a JSON object.
    """
    return _seal_event(body, decode(body), None)


def restrict(sealed: Sealed, authority: Authority) -> Sealed:
    """Replace the event's restriction by the one that follows from the sender's authority."""
    return _apply_restriction(sealed, encode_canonical(sealed.value), authority)


def _seal_event(body: bytes, event: Json, authority: Authority | None) -> Sealed:
    text = encode_canonical(event)
    payload, redacted = _choose_payload(body, text), 0
    if kinds := find_suspect_kinds(text):
        event, redacted = redact(event, kinds)
        if redacted:
            payload = text = encode_canonical(event)
    sealed = Sealed(payload=payload, key=event_key(text), value=event, redacted=redacted)
    return sealed if authority is None else _apply_restriction(sealed, text, authority)


def _apply_restriction(sealed: Sealed, text: bytes, authority: Authority) -> Sealed:
    restriction = find_restriction(sealed.value, text, authority)
    if not restriction and WITHHELD not in sealed.value:
        return sealed
    bare = {name: value for name, value in sealed.value.items() if name != WITHHELD}
    event = bare | {WITHHELD: restriction.document} if restriction else bare
    text = encode_canonical(event)
    return replace(sealed, payload=text, key=event_key(text), value=event, restricted=bool(restriction))
