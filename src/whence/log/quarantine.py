"""Quarantine drafts: rejected bodies, kept byte for byte except for the secrets in them."""

from hashlib import blake2b

from whence.errors import EventError
from whence.log.record import Draft, Kind
from whence.openlineage.redaction.redact import redact_body


def make_quarantine_draft(body: bytes, error: EventError, received_at: int) -> Draft:
    """The draft that stores a rejected body and the reason for its rejection."""
    payload = redact_body(body)
    return Draft(
        kind=Kind.QUARANTINED,
        key=blake2b(payload, digest_size=16).digest(),
        received_at=received_at,
        payload=payload,
        pointer=error.pointer,
        reason=error.reason,
    )
