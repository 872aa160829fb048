"""What is kept of a refused body: the bytes as they came, without the secrets in them."""

from hashlib import blake2b

from whence.errors import EventError
from whence.log.record import Draft, Kind
from whence.openlineage.redact import redact, suspects
from whence.openlineage.secrets import Language
from whence.openlineage.wire import canonical, decode


def quarantined(body: bytes, error: EventError, received_at: int) -> Draft:
    """The record of a refused body, and of why it was refused."""
    payload = without_secrets(body)
    return Draft(
        kind=Kind.QUARANTINED,
        key=blake2b(payload, digest_size=16).digest(),
        received_at=received_at,
        payload=payload,
        pointer=error.pointer,
        reason=error.reason,
    )


def without_secrets(body: bytes) -> bytes:
    """The body itself, if it shows no secret; else its redacted form, whether it is JSON or not."""
    kinds = suspects(body)
    if not kinds:
        return body
    try:
        event, changed = redact(decode(body), kinds)
    except EventError:
        text = body.decode("utf-8", "surrogateescape")
        for kind in kinds:
            text = kind.mask(text, Language.PROSE)
        return text.encode("utf-8", "surrogateescape")
    return canonical(event) if changed else body
