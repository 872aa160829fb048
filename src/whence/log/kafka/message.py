"""Records of the event log as Kafka messages. The value is the payload, exactly; headers say what it is.

`whence-kind` is `event`, `receipt` or `quarantined`; `whence-key` the event's key, 16 bytes; `whence-pointer` and
`whence-reason` why a body was refused; `whence-original` the position that a receipt repeats; `whence-signature` that
a collector knew the sender of the event (`trust.Trust`). Whoever writes to the topic without Whence writes events
without headers.

Whoever may write to the topic may write any header, so none is believed but a sound signature. An event's key and its
redaction follow from its value alone, read again here, as if a client had posted it; a refused body is redacted again;
a receipt has no value that could be lost. What is left to trust is the timestamp, which a topic with
`message.timestamp.type=LogAppendTime` takes from the broker.
"""

from collections.abc import Mapping

from whence.errors import EventError
from whence.log.kafka.trust import NOBODY, Trust
from whence.log.position import Position
from whence.log.quarantine import quarantined
from whence.log.record import Draft, Kind, Record
from whence.openlineage.accept import restrict, seal

KIND, KEY, POINTER, REASON, ORIGINAL, SIGNATURE = (
    f"whence-{name}" for name in ("kind", "key", "pointer", "reason", "original", "signature")
)
EVENT, RECEIPT, QUARANTINED = (kind.name.lower().encode() for kind in Kind)

Headers = list[tuple[str, str | bytes | None]]
"""As the client library takes them; the values here are bytes."""

_KEY_BYTES = 16


def headers_of(draft: Draft, trust: Trust = NOBODY) -> Headers:
    """The headers of a draft's message."""
    if draft.kind is Kind.EVENT:
        signature = trust.sign(draft.key)
        return [(KIND, EVENT), (KEY, draft.key), *([(SIGNATURE, signature)] if signature else [])]
    pointer, reason = draft.pointer.encode("utf-8", "replace"), draft.reason.encode("utf-8", "replace")
    return [(KIND, QUARANTINED), (KEY, draft.key), (POINTER, pointer), (REASON, reason)]


def receipt_headers(key: bytes, original: Position) -> Headers:
    """The headers of the message, without a value, that says: `key` came again; it is at `original`."""
    return [(KIND, RECEIPT), (KEY, key), (ORIGINAL, str(original).encode())]


def record_of(
    position: Position, received_at: int, value: bytes | None, headers: Mapping[str, bytes], trust: Trust = NOBODY
) -> Record:
    """The record in a message. A value that is no JSON object, or none at all, is quarantined."""
    body, kind = value or b"", headers.get(KIND)
    if kind == RECEIPT and not body and len(headers.get(KEY, b"")) == _KEY_BYTES:
        original = _original(headers)
        if original is not None:
            key = headers[KEY].hex()
            return Record(position=position, kind=Kind.RECEIPT, key=key, received_at=received_at, original=original)
    if kind == QUARANTINED:
        error = EventError(_text(headers, POINTER), _text(headers, REASON) or "refused")
        return _refused(position, received_at, body, error)
    try:
        sealed = seal(body)
        if not trust.is_signed(bytes.fromhex(sealed.key), headers.get(SIGNATURE, b"")):
            sealed = restrict(sealed, trust.authority)
    except EventError as error:
        return _refused(position, received_at, body, error)
    return Record(position=position, kind=Kind.EVENT, key=sealed.key, received_at=received_at, payload=sealed.payload)


def _refused(position: Position, received_at: int, body: bytes, error: EventError) -> Record:
    draft = quarantined(body, error, received_at)
    return Record(
        position=position,
        kind=Kind.QUARANTINED,
        key=draft.key.hex(),
        received_at=received_at,
        payload=draft.payload,
        pointer=draft.pointer,
        reason=draft.reason,
    )


def _original(headers: Mapping[str, bytes]) -> Position | None:
    try:
        return Position.parse(_text(headers, ORIGINAL))
    except ValueError:
        return None


def _text(headers: Mapping[str, bytes], name: str) -> str:
    # PostgreSQL cannot hold U+0000, and this may be anyone's.
    return (headers.get(name) or b"").decode("utf-8", "replace").replace("\0", "\ufffd")
