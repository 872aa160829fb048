"""Alerts of Alertmanager (API v2): one for each symptom, so that its own grouping, inhibition and silences work.

An alert is identified by its labels alone. One inhibit rule mutes `role="downstream"` while `role="root"` fires, with
`equal: [root]`.
"""

from collections.abc import Iterable
from typing import Any

from whence.govern.notifications.notice import Notice, Symptom, digest
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
from whence.query.answers.instants import SECOND, iso

Alert = dict[str, Any]
HELD = 4 * 3_600 * SECOND
"""How long an alert that is not sent again fires on: longer than Whence may be away, and never for ever."""
_LONGEST_LABEL = 500


def alerts(notice: Notice, now: int, base: str = "") -> list[Alert]:
    """All alerts of an incident at a time (µs): those that fire, and those that ended. `base`: of links."""
    found: dict[tuple[tuple[str, str], ...], Alert] = {}
    for one in _ended_first(notice):
        alert = _alert(notice, one, now, base)
        found[tuple(alert["labels"].items())] = alert
    return sorted(found.values(), key=lambda one: (one["labels"]["role"] != "root", *one["labels"].values()))


def ended(alert: Alert, now: int) -> Alert:
    """An alert that fired, ended at a time (µs)."""
    return {**alert, "endsAt": iso(now)}


def _ended_first(notice: Notice) -> Iterable[Symptom]:
    """The symptoms; of two with the same labels, the one that holds is last. The root always has one."""
    root = Symptom(node=notice.root, rule="incident", since=notice.since)
    has_root = any(one.node == notice.root for one in notice.symptoms)
    symptoms = notice.symptoms if has_root else (root, *notice.symptoms)
    return sorted(symptoms, key=lambda one: (one.until is None, one.since))


def _alert(notice: Notice, one: Symptom, now: int, base: str) -> Alert:
    end = now + HELD if one.until is None else one.until
    if notice.state.is_over:
        over = now if notice.resolved_at is None else notice.resolved_at
        end = min(end, over, now)
    is_firing = end > now
    made = {
        "labels": {name: text for name, text in _labels(notice, one).items() if text},
        "annotations": _annotations(notice, one),
        # Alertmanager does not wait for a group whose first alert began long ago, and so would not inhibit in time.
        # Of an alert that it has already it keeps the earliest time.
        "startsAt": iso(now if is_firing else min(one.since, end)),
        "endsAt": iso(end),
    }
    addresses = [address for _, address in pages(notice, base)]
    return made | ({"generatorURL": addresses[0]} if addresses else {})


def _labels(notice: Notice, one: Symptom) -> dict[str, str]:
    return {
        "alertname": _label(one.rule),
        "dataset": _label(str(one.node)),
        "root": _label(str(notice.root)),
        "role": "root" if one.node == notice.root else "downstream",
        "severity": str(notice.severity),
        "owner": _label(", ".join(notice.owners)),
        "tier": _label(notice.tier),
        "domain": _label(notice.domain),
    }


def _label(text: str) -> str:
    """A label. What is cut has a hash in its place: two names never become one."""
    whole = inert(text, len(text) * 10)
    return whole if len(whole) <= _LONGEST_LABEL else f"{whole[:_LONGEST_LABEL]}…{digest(text)[:12]}"


def _annotations(notice: Notice, one: Symptom) -> dict[str, str]:
    about = "\n".join(f"{inert(label)}: {inert(text)}" for label, text in rows(notice))
    symptoms = "\n".join(inert(line) for line in symptom_lines(notice)) if one.node == notice.root else ""
    found = {
        "summary": inert(headline(notice)),
        "description": inert(f"{name_text(one.node)}: {one.text}") if one.text else "",
        "details": about if one.node == notice.root else "",
        "symptoms": symptoms,
        "runbook_url": runbook_address(notice),
        "incident": clean(notice.incident),
        "since": iso(one.since),
        "state": str(notice.state),
    }
    return {name: text for name, text in found.items() if text}
