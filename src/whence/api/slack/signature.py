"""The signature of requests from Slack: version `v0` of https://docs.slack.dev/authentication/verifying-requests-from-slack."""

import hmac
from collections.abc import Mapping
from hashlib import sha256

from whence.errors import AccessError

SIGNATURE, TIMESTAMP = "x-slack-signature", "x-slack-request-timestamp"
_LONGEST_SECONDS = 300
"""A request is valid for so long, before and after the time that it names."""


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """The signature of a body that was sent at a time (seconds since 1970, as text)."""
    return "v0=" + hmac.new(secret.encode(), b":".join((b"v0", timestamp.encode(), body)), sha256).hexdigest()


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: int) -> None:
    """Raises AccessError (401) unless Slack signed this body within the last five minutes; `now` in µs."""
    timestamp = headers.get(TIMESTAMP, "")
    is_time = timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 16
    if not is_time or abs(now // 1_000_000 - int(timestamp)) > _LONGEST_SECONDS:
        raise AccessError("the request has no timestamp of Slack of the last five minutes: check the server's clock")
    given = headers.get(SIGNATURE, "").encode("latin-1", "replace")
    if not hmac.compare_digest(sign(secret, timestamp, body).encode(), given):
        raise AccessError("the signature is wrong: WHENCE_SLACK_SIGNING_SECRET must be the signing secret of the app")
