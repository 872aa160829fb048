"""Credentials in names: of URIs, and access tokens."""

from __future__ import annotations

import re

from whence_client.redaction.patterns import Pattern
from whence_client.redaction.tokens import MASK, PREFIXES, mask_tokens


def strip_credentials(text: str) -> str:
    """Remove tokens, values of secret parameters, and `user:password@` in URIs from a name (`container@account` stays).

    >>> strip_credentials("mysql://root:pw@db:3306")
    'mysql://db:3306'
    >>> strip_credentials("jdbc:mysql://db/shop?user=bob&password=pw")
    'jdbc:mysql://db/shop?user=bob&password=[redacted]'
    """
    if not any(map(text.__contains__, _SIGNS)):
        return text
    # In this order: a masked part may be what looked like a URI's user.
    text = _SECRET_PARAMETER.compiled.sub(rf"\1{MASK}", mask_tokens(text))
    if "@" not in text:
        return text
    head, *rest = text.split("://")
    return "://".join([head, *map(_strip_user, rest)])


_SECRET_PARAMETER = Pattern(
    r"([?&;](?:[\w.-]{0,80}(?:passw(?:or[dt]|d)|kennwort|passphrase|pwd|secret|credentials?|token|signature"
    r"|(?:api|access|account|private|shared|encryption|master|signing)[_.-]?key)|sig)=)[^&;]+",
    re.IGNORECASE | re.ASCII,
)
_SIGNS = ("@", "=", *PREFIXES)


def _strip_user(rest: str) -> str:
    authority, slash, path = rest.partition("/")
    user, _, host = authority.rpartition("@")
    return f"{host}{slash}{path}" if ":" in user else rest
