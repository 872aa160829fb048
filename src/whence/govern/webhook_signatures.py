"""Signatures of webhooks, as the specification Standard Webhooks 1.0.0 says (HMAC-SHA256, `v1`).

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import hmac
from base64 import b64decode, b64encode

_PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64
SECRET_FORM = "write it as `whsec_` and 24 to 64 bytes in base64, such as of: openssl rand -base64 32"


def read_secret(text: str) -> bytes | None:
    """The key in a secret of the standard's form; None if it has another form."""
    try:
        key = b64decode(text.removeprefix(_PREFIX), validate=True)
    except ValueError:
        return None
    return key if _SHORTEST <= len(key) <= _LONGEST else None


def signed_headers(key: bytes, id_: str, at: int, body: bytes) -> dict[str, str]:
    """The headers of a message at a time (seconds since 1970). `id_`: the same for every attempt.

    >>> key = read_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    >>> id_, body = "msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}'
    >>> signed_headers(key, id_, 1614265330, body)["webhook-signature"]
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    signature = hmac.digest(key, b".".join((id_.encode(), str(at).encode(), body)), "sha256")
    return {
        "webhook-id": id_,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{b64encode(signature).decode()}",
    }
