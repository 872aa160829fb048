"""Masking the secrets of an event: in URIs, SQL, code, variables and messages.

Identities (`namespace`, `name`, `field`, object keys) only lose what `strip_credentials` removes, so that different
names stay different. Redacting again changes nothing.
"""

from __future__ import annotations

from typing import Any

from whence_client.redaction.credentials import strip_credentials
from whence_client.redaction.secrets import MASK, Kind, Language, is_secret_name
from whence_client.redaction.suspect_kinds import find_suspect_kinds

Json = dict[str, Any]

SQL_MEMBERS = frozenset(
    {"query", "sql", "statement", "queryText", "compiled_code", "raw_code", "compiled_sql", "raw_sql"}
)
CODE_MEMBERS = frozenset({"sourceCode"})
"""The members of facets that hold SQL text and source code."""

_IDENTITIES = frozenset({"namespace", "name", "field"})


def redact(event: Json, kinds: tuple[Kind, ...]) -> tuple[Json, int]:
    """Mask the secrets of these kinds. Returns the event and how many values changed; the same object if none did."""
    redaction = _Redaction(kinds)
    redacted = redaction.redact_value(event, "")
    return (redacted, redaction.changed) if redaction.changed else (event, 0)


def redact_event(event: Json, text: str) -> Json:
    """Mask all secrets of an event. `text` is its JSON, in which the kinds that may occur are looked for."""
    kinds = find_suspect_kinds(text.encode("utf-8", "surrogatepass"))
    return redact(event, kinds)[0] if kinds else event


class _Redaction:
    """The state of redacting one event, in one pass."""

    __slots__ = ("_has_name_rules", "_probes", "_redacted", "_texts", "changed")

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self._probes = tuple((probe.decode(), kind.mask) for kind in kinds for probe in kind.probes)
        self._has_name_rules = any(kind.names for kind in kinds)
        self._redacted: dict[tuple[int, str], tuple[Any, int]] = {}
        self._texts: dict[tuple[str, str], str] = {}
        """Masked texts by text and member: a wide event repeats the names of its datasets, columns and members."""
        self.changed = 0

    def redact_value(self, value: Any, key: str) -> Any:
        """Redact the value of the member `key`. One frame per level: events may nest deep."""
        if type(value) is str:
            return self._redact_text(value, key)
        if type(value) is list:
            redacted = []
            for item in value:
                # Interned values are one object (`json.interning`), and stay one.
                known = self._redacted.get((id(item), key)) if type(item) is dict else None
                if known is None:
                    before = self.changed
                    known = self.redact_value(item, key), self.changed - before
                    if type(item) is dict:
                        self._redacted[id(item), key] = known
                else:
                    self.changed += known[1]
                redacted.append(known[0])
            return redacted
        if type(value) is not dict:
            return value
        members = {}
        masked = self._find_secret_members(value, key)
        for name in sorted(value):
            members[self._redact_key(name)] = (
                self._mask_value(value[name]) if name in masked else self.redact_value(value[name], name)
            )
        return members

    def _find_secret_members(self, entity: Json, parent_key: str) -> frozenset[str]:
        """The members whose values a name marks as secret: their own name, or the `name` or `key` beside a `value`."""
        if not self._has_name_rules:
            return frozenset()
        secret_members = {key for key, value in entity.items() if type(value) is str and is_secret_name(key)}
        if "value" in entity and parent_key != "tags":
            labels = (entity.get("name"), entity.get("key"))
            if any(type(label) is str and is_secret_name(label) for label in labels):
                secret_members.add("value")
        return frozenset(secret_members - _IDENTITIES)

    def _mask_value(self, value: Any) -> Any:
        if value is None or value in ("", MASK):
            return value
        self.changed += 1
        return MASK

    def _redact_key(self, key: str) -> str:
        return self._redact_text(key, "name")

    def _redact_text(self, text: str, key: str) -> str:
        redacted = self._texts.get((text, key))
        if redacted is None:
            redacted = self._texts[text, key] = self._mask_text(text, key)
        self.changed += text != redacted
        return redacted

    def _mask_text(self, text: str, key: str) -> str:
        if key in _IDENTITIES:
            return strip_credentials(text)
        lowered, redacted = text.lower(), text
        for probe, mask in self._probes:
            if probe in lowered:
                redacted = mask(redacted, _language(key))
        return redacted


def _language(key: str) -> Language:
    if key in SQL_MEMBERS:
        return Language.SQL
    return Language.CODE if key in CODE_MEMBERS else Language.PROSE
