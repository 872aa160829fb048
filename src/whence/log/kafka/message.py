"""Records of the event log as Kafka messages. The value is the exact payload; headers describe it.

`whence-kind` is `event`, `receipt` or `quarantined`. `whence-key` is the event's key, 16 bytes. `whence-pointer` and
`whence-reason` hold why a body was rejected. `whence-original` is the position that a receipt repeats.
`whence-signature` proves that a collector authenticated the sender (`trust.Trust`). Producers that write to the topic
without Whence write events without headers.

Every writer to the topic can write any header, so only a valid signature is trusted. The event's key and its redaction
are computed again from the value, as if a client had posted it. A rejected body is redacted again. A receipt has no
value that could be lost. Only the timestamp has to be trusted; a topic with `message.timestamp.type=LogAppendTime`
takes it
from the broker.
"""

from collections.abc import Mapping

from whence.errors import EventError
from whence.log.kafka.trusted_senders import NOBODY, Trust
from whence.log.position import Position
from whence.log.quarantine import make_quarantine_draft
from whence.log.record import Draft, Kind, Record
from whence.openlineage.accept import restrict, seal

KIND, KEY, POINTER, REASON, ORIGINAL, SIGNATURE = (
    f"whence-{name}" for name in ("kind", "key", "pointer", "reason", "original", "signature")
)
EVENT, RECEIPT, QUARANTINED = (kind.name.lower().encode() for kind in Kind)

Headers = list[tuple[str, str | bytes | None]]
"""Headers as the client library takes them; the values here are bytes."""

_KEY_BYTES = 16


def encode_headers(draft: Draft, trust: Trust = NOBODY) -> Headers:
    """Encode the headers of a draft's message."""
    if draft.kind is Kind.EVENT:
        signature = trust.sign(draft.key)
        return [(KIND, EVENT), (KEY, draft.key), *([(SIGNATURE, signature)] if signature else [])]
    pointer, reason = draft.pointer.encode("utf-8", "replace"), draft.reason.encode("utf-8", "replace")
    return [(KIND, QUARANTINED), (KEY, draft.key), (POINTER, pointer), (REASON, reason)]


def encode_receipt_headers(key: bytes, original: Position) -> Headers:
    """Encode the headers of a receipt, a message without a value: `key` was received again, first at `original`."""
    return [(KIND, RECEIPT), (KEY, key), (ORIGINAL, str(original).encode())]


def decode_message(
    position: Position, timestamp: int, value: bytes | None, headers: Mapping[str, bytes], trust: Trust = NOBODY
) -> Record:
    """Decode the record in a message. A missing value, or one that is not a JSON object, is quarantined.

    `timestamp` is the message's, in milliseconds since 1970 UTC: the time when the record was received.
    """
    received_at, body, kind = timestamp * 1000, value or b"", headers.get(KIND)
    if kind == RECEIPT and not body and len(headers.get(KEY, b"")) == _KEY_BYTES:
        original = _parse_original(headers)
        if original is not None:
            key = headers[KEY].hex()
            return Record(position=position, kind=Kind.RECEIPT, key=key, received_at=received_at, original=original)
    if kind == QUARANTINED:
        error = EventError(_header_text(headers, POINTER), _header_text(headers, REASON) or "refused")
        return _quarantine_record(position, received_at, body, error)
    try:
        sealed = seal(body)
        if not trust.is_signed(bytes.fromhex(sealed.key), headers.get(SIGNATURE, b"")):
            sealed = restrict(sealed, trust.authority)
    except EventError as error:
        return _quarantine_record(position, received_at, body, error)
    return Record(position=position, kind=Kind.EVENT, key=sealed.key, received_at=received_at, payload=sealed.payload)


def _quarantine_record(position: Position, received_at: int, body: bytes, error: EventError) -> Record:
    draft = make_quarantine_draft(body, error, received_at)
    return Record(
        position=position,
        kind=Kind.QUARANTINED,
        key=draft.key.hex(),
        received_at=received_at,
        payload=draft.payload,
        pointer=draft.pointer,
        reason=draft.reason,
    )


def _parse_original(headers: Mapping[str, bytes]) -> Position | None:
    try:
        return Position.parse(_header_text(headers, ORIGINAL))
    except ValueError:
        return None


def _header_text(headers: Mapping[str, bytes], name: str) -> str:
    # PostgreSQL cannot store U+0000, and anybody may have written this header.
    return (headers.get(name) or b"").decode("utf-8", "replace").replace("\0", "\ufffd")
