"""The body of a webhook: a document for programs. Names are exact, as JSON; a program decides how it shows them."""

from typing import Any

import msgspec

from whence.govern.notifications.notice import Act, Symptom
from whence.govern.notifications.rendering.texts import pages
from whence.query.answers.instants import iso

Json = dict[str, Any]


def document(act: Act, base: str = "") -> Json:
    """The incident. Every attempt of one act has the same document."""
    notice = act.notice
    return {
        "type": f"incident.{notice.state}",
        "timestamp": iso(notice.at),
        "data": {
            "id": notice.incident,
            "transition": notice.transition,
            "state": str(notice.state),
            "severity": str(notice.severity),
            "title": notice.title,
            "root": str(notice.root),
            "owners": list(notice.owners),
            "tier": notice.tier or None,
            "domain": notice.domain or None,
            "since": iso(notice.since),
            "resolved_at": None if notice.resolved_at is None else iso(notice.resolved_at),
            "symptoms": [_symptom(one, is_root=one.node == notice.root) for one in notice.symptoms],
            "symptoms_not_shown": notice.unseen,
            "details": [{"label": one.label, "text": one.text} for one in notice.details],
            "links": [{"title": title, "url": address} for title, address in pages(notice, base)],
            "runbook": notice.runbook or None,
            "silence": None if notice.state.is_over else notice.silence or None,
            "thread": act.thread,
        },
    }


def body(act: Act, base: str = "") -> bytes:
    """The document as bytes, which are signed as they are."""
    return msgspec.json.encode(document(act, base))


def _symptom(one: Symptom, *, is_root: bool) -> Json:
    return {
        "node": str(one.node),
        "role": "root" if is_root else "downstream",
        "rule": one.rule,
        "text": one.text,
        "since": iso(one.since),
        "until": None if one.until is None else iso(one.until),
    }
