"""Redaction of events before they are stored (reference rule 48): in URIs, SQL, code, variables, messages.

Identities (`namespace`, `name`, `field`, object keys) only lose what `strip_credentials` removes, so that
different names stay different. Redacting again changes nothing.
"""

from ahocorasick_rs import BytesAhoCorasick

from whence.errors import EventError
from whence.openlineage.json.wire import decode, encode_canonical
from whence_client.redaction.secrets import KINDS, Kind, Language, mask_pairs
from whence_client.redaction.suspect_kinds import is_likely
from whence_client.redaction.walk import redact

__all__ = ["find_suspect_kinds", "redact", "redact_body"]

_PROBES = tuple((probe, kind) for kind in KINDS for probe in kind.probes)
_PROBE_AUTOMATON = BytesAhoCorasick([probe for probe, _ in _PROBES])


def find_suspect_kinds(canonical_event: bytes) -> tuple[Kind, ...]:
    """What `whence_client.redaction.suspect_kinds` finds, for many events: in their canonical JSON."""
    text = canonical_event.lower()
    # One pass for all probes takes a quarter of the time of one search each, and a tenth of one regular expression.
    found = {match[0] for match in _PROBE_AUTOMATON.find_matches_as_indexes(text, overlapping=True)}
    hits = [_PROBES[index] for index in sorted(found)]
    likely = {kind.name for probe, kind in hits if is_likely(probe, text, canonical_event)} if hits else frozenset()
    return tuple([kind for kind in KINDS if kind.name in likely]) if likely else ()


def redact_body(body: bytes) -> bytes:
    """Mask the secrets in a rejected body, JSON or not. Returns the same bytes if none are found."""
    try:
        event = decode(body)
    except EventError:
        return _redact_broken(body)
    redacted, changed = redact(event, find_suspect_kinds(encode_canonical(event)))
    return encode_canonical(redacted) if changed else body


def _redact_broken(body: bytes) -> bytes:
    if not (kinds := find_suspect_kinds(body)):
        return body
    text = body.decode("utf-8", "surrogateescape")
    for kind in kinds:
        text = kind.mask(text, Language.PROSE)
    if any(kind.names for kind in kinds):
        text = mask_pairs(text)
    return text.encode("utf-8", "surrogateescape")
