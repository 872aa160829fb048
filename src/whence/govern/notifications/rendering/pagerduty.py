"""Events of PagerDuty (Events API v2). All events of one incident have one `dedup_key`, or it would never resolve."""

from typing import Any

from whence.govern.notifications.notice import Act, Notice, Severity, State
from whence.govern.notifications.rendering.texts import (
    clean,
    headline,
    inert,
    name_text,
    pages,
    rows,
    runbook_address,
    symptom_lines,
)
from whence.query.answers.instants import iso

_LONGEST_SUMMARY, _LONGEST_SOURCE = 1_024, 255
_SEVERITIES = {Severity.PAGE: "critical", Severity.TICKET: "warning"}


def event(act: Act, base: str = "") -> dict[str, Any]:
    """The body of a request but for the routing key."""
    notice = act.notice
    common = {"event_action": _action(notice), "dedup_key": act.thread}
    if common["event_action"] != "trigger":
        return common
    payload = {
        "summary": inert(headline(notice), _LONGEST_SUMMARY),
        "source": inert(name_text(notice.root), _LONGEST_SOURCE),
        "severity": _SEVERITIES[notice.severity],
        "timestamp": iso(notice.at),
        "component": inert(", ".join(notice.owners)),
        "group": inert(notice.domain),
        "class": "data incident",
        "custom_details": _details(act),
    }
    links = [{"href": address, "text": title} for title, address in pages(notice, base)]
    if runbook := runbook_address(notice):
        links.append({"href": runbook, "text": "Runbook"})
    client = {"client": "Whence", **({"client_url": base} if base else {})}
    return {
        **common,
        **client,
        "payload": {name: value for name, value in payload.items() if value},
        **({"links": links} if links else {}),
    }


def _action(notice: Notice) -> str:
    if notice.is_over:
        return "resolve"
    return "acknowledge" if notice.state in (State.ACKNOWLEDGED, State.MITIGATED) else "trigger"


def _details(act: Act) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for label, text in rows(act.notice):
        found.setdefault(inert(label), []).append(inert(text))
    shown = {label: texts[0] if len(texts) == 1 else texts for label, texts in found.items()}
    symptoms = [inert(line) for line in symptom_lines(act.notice)]
    return {**shown, "Symptoms": symptoms, "Incident": clean(act.notice.incident), "Idempotency key": act.id}
