"""What is to be sent: transitions of incidents times routes, without what receivers have. Pure.

Nothing is remembered but the receipts in the log. So a killed sender forgets nothing, and whoever sends after it finds
the same acts under the same ids.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whence.govern.notifications.messages import Message, find_reports, find_retrainings
from whence.govern.notifications.notice import Act, Notice
from whence.govern.notifications.receipts import Receipts
from whence.govern.notifications.receivers import (
    AlertmanagerReceiver,
    PagerDutyReceiver,
    Receiver,
    Receivers,
    SlackReceiver,
)
from whence.govern.notifications.rendering.alertmanager import Alert, alerts, ended
from whence.govern.retraining.triggers import RetrainTrigger

DAY = 86_400_000_000
OLDEST = 3 * DAY
"""How long ago a transition was of which receivers are still notified, if the incident is over."""
NEWS = DAY
"""How long ago it was if a receiver knows nothing of the incident."""
REPEATED = 15 * 60_000_000
"""How long the end of an alert is sent again: a replica that was away gets it then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """The notices of one incident, in order; `current`: the last one with the symptoms of now."""

    notices: tuple[Notice, ...]
    current: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An act or a message, and its receiver. Those of one thread are delivered in order."""

    receiver: Receiver
    act: Act | Message


def find_deliveries(
    incidents: Iterable[Notices], receivers: Receivers, receipts: Receipts, now: int
) -> Iterator[Delivery]:
    """What receivers do not have at a time (µs), each incident's in order."""
    for one in incidents:
        if one.current.state.is_over and one.current.at < now - OLDEST:
            continue
        for receiver, first in _audience(one, receivers, receipts):
            acts = [_act(one, index, receiver, receipts) for index in range(first, len(one.notices))]
            for act in _relevant(acts, receiver, receipts, now):
                if not receipts.has(act):
                    yield Delivery(receiver=receiver, act=act)


def find_messages(
    receivers: Receivers, receipts: Receipts, now: int, triggers: Sequence[RetrainTrigger] = ()
) -> Iterator[Delivery]:
    """The messages beside incidents that receivers do not have at a time (µs)."""
    for receiver, message in (*find_reports(receivers, now), *find_retrainings(receivers, triggers)):
        if not receipts.has(message):
            yield Delivery(receiver=receiver, act=message)


def find_alerts(
    incidents: Iterable[Notices],
    receiver: Receiver,
    receipts: Receipts,
    now: int,
    base: str,
    earlier: Mapping[str, Sequence[Alert]],
) -> dict[str, list[Alert]]:
    """The alerts that an Alertmanager is sent again at a time (µs), by incident: it forgets what is not repeated.

    `earlier`: what it was sent before. Alerts that have other labels since are ended.
    """
    found: dict[str, list[Alert]] = {}
    for one in incidents:
        act = Act(notice=one.current, receiver=receiver.name)
        is_old = one.current.state.is_over and one.current.at < now - REPEATED
        if not is_old and receipts.knows(act):
            made = alerts(one.current.seen_by(receiver.viewer), now, base)
            labels = [alert["labels"] for alert in made]
            gone = (alert for alert in earlier.get(one.current.incident, ()) if alert["labels"] not in labels)
            found[one.current.incident] = [*made, *(ended(alert, now) for alert in gone)]
    return found


def _audience(one: Notices, receivers: Receivers, receipts: Receipts) -> Iterator[tuple[Receiver, int]]:
    """Who is notified of an incident, and the index of the first notice. Who knows of it is told of its end, too."""
    first: dict[str, int] = {}
    for index, notice in enumerate(one.notices):
        for receiver in receivers.of(notice):
            first.setdefault(receiver.name, index)
    for receiver in receivers.receivers:
        knows = receipts.knows(_act(one, 0, receiver, receipts))
        if knows or receiver.name in first:
            yield receiver, 0 if knows else first[receiver.name]


def _relevant(acts: Sequence[Act], receiver: Receiver, receipts: Receipts, now: int) -> Sequence[Act]:
    """Which acts are worth sending. A receiver that shows a state gets the last one, and nobody is woken for an
    incident that is over.
    """
    last = acts[-1]
    if _shows_state(receiver):
        is_needed = receipts.knows(last) if last.notice.state.is_over else True
        # A merged incident is shown as the one that took its place.
        acts = [last] if is_needed and not last.notice.goes_on else []
    if not last.notice.state.is_over:
        return acts
    oldest = now - (OLDEST if receipts.knows(last) else NEWS)
    return [one for one in acts if one.notice.at >= oldest]


def _shows_state(receiver: Receiver) -> bool:
    return isinstance(receiver.target, AlertmanagerReceiver | PagerDutyReceiver | SlackReceiver)


def _act(one: Notices, index: int, receiver: Receiver, receipts: Receipts) -> Act:
    act = Act(notice=one.notices[index], receiver=receiver.name, earlier=one.notices[:index])
    return replace(act, reference=receipts.references.get(act.thread, ""))
