"""Webhooks that are signed as the specification Standard Webhooks 1.0.0 says (HMAC-SHA256, `v1`).

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import binascii
import hmac
import time
from base64 import b64decode, b64encode
from hashlib import sha256

from whence.errors import DeliveryError
from whence.govern.notifications.adapters.http import Http, place_of
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import WebhookReceiver
from whence.govern.notifications.rendering.webhook import body

_PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64


def deliver(http: Http, receiver: WebhookReceiver, act: Act, base: str) -> str:
    """Send the document of an act. Returns nothing to refer to. Raises DeliveryError."""
    content = body(act, base)
    headers = signed_headers(key_of(receiver), act.id, int(time.time()), content)
    http.send("POST", receiver.url, content, {**headers, "Idempotency-Key": act.id})
    return ""


def signed_headers(key: bytes, name: str, at: int, content: bytes) -> dict[str, str]:
    """The headers of a message at a time (seconds since 1970). `name`: the same for every attempt."""
    signature = hmac.new(key, b".".join((name.encode(), str(at).encode(), content)), sha256).digest()
    return {
        "webhook-id": name,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{b64encode(signature).decode()}",
    }


def key_of(receiver: WebhookReceiver) -> bytes:
    """The key of a secret of the standard's form. Raises DeliveryError."""
    try:
        key = b64decode(receiver.secret.read().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not _SHORTEST <= len(key) <= _LONGEST:
        reason = "its secret must be `whsec_` and 24 to 64 bytes in base64: openssl rand -base64 32"
        raise DeliveryError(place_of(receiver.url), reason)
    return key
