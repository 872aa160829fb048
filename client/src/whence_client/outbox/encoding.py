"""An event as one line of JSON, without secrets."""

from __future__ import annotations

import json
import math
from typing import Any

from whence_client.events.facets import Event


def encode_event(event: Event) -> bytes:
    """The line of an event, secrets masked. Values that JSON does not have become text, NaN and infinity null."""
    text = _dump(event)
    from whence_client.redaction.walk import redact_event  # a job that sends nothing does not need it

    redacted = redact_event(event, text)
    # A name of a file may hold bytes that are no text: such a character becomes a question mark.
    return (text if redacted is event else _dump(redacted)).encode("utf-8", "replace")


def _dump(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    except (ValueError, TypeError):
        return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
