"""Which kinds of secrets an event may hold, by a quick search of its JSON: most hold none, and are not walked."""

from __future__ import annotations

from whence_client.redaction.patterns import Pattern
from whence_client.redaction.secrets import KINDS, Kind
from whence_client.redaction.tokens import is_token_likely

_KEYS = tuple(
    word + separator + b"key"
    for word in (b"api", b"access", b"account", b"private", b"shared", b"encryption", b"master", b"signing")
    for separator in (b"", b"_", b"-", b".")
)
_MYSQL_OPTION = Pattern(rb"(?:\s|\\[nrtf]|\\u00)-p")


def find_suspect_kinds(event: bytes) -> tuple[Kind, ...]:
    """The kinds of secrets that the JSON of an event may hold; usually none."""
    text = event.lower()
    return tuple(kind for kind in KINDS if any(one in text and is_likely(one, text, event) for one in kind.probes))


def is_likely(probe: bytes, text: bytes, event: bytes) -> bool:
    """Check again the probes that occur in many events without a secret. `text` is the event in lower case."""
    if (is_token := is_token_likely(probe, event)) is not None:
        return is_token
    if probe == b"curl":
        return b"-u" in text
    if probe in (b"mysql", b"mariadb"):
        return _MYSQL_OPTION.compiled.search(event) is not None
    if probe == b"@":
        return any(b":" in part.rpartition(b"@")[0] for part in text.split(b"://")[1:])
    return probe != b"key" or any(word in text for word in _KEYS)
