"""What is kept of a refused body: the bytes as they came, without the secrets in them."""

from hashlib import blake2b

from whence.errors import EventError
from whence.log.record import Draft, Kind
from whence.openlineage.redact import redact_body


def quarantined(body: bytes, error: EventError, received_at: int) -> Draft:
    """The record of a refused body, and of why it was refused."""
    payload = redact_body(body)
    return Draft(
        kind=Kind.QUARANTINED,
        key=blake2b(payload, digest_size=16).digest(),
        received_at=received_at,
        payload=payload,
        pointer=error.pointer,
        reason=error.reason,
    )
