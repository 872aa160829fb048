"""One act, delivered: what is rendered, and how it is sent, by the kind of its receiver."""

import json
import time
from dataclasses import replace
from typing import Any

from whence.govern.notifications.adapters import alertmanager, github, mail, pagerduty, slack, webhook
from whence.govern.notifications.adapters.http import Http, place_of
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import (
    AlertmanagerReceiver,
    EmailReceiver,
    GitHubReceiver,
    PagerDutyReceiver,
    Receiver,
    SlackReceiver,
    WebhookReceiver,
)
from whence.govern.notifications.rendering import alertmanager as alerts
from whence.govern.notifications.rendering import github as issues
from whence.govern.notifications.rendering import mail as mails
from whence.govern.notifications.rendering import pagerduty as events
from whence.govern.notifications.rendering import slack as messages
from whence.govern.notifications.rendering import webhook as documents


def deliver(http: Http, receiver: Receiver, act: Act, base: str) -> str:
    """Send an act. Returns what later acts of its incident refer to. Raises DeliveryError.

    Whatever the receiver may not see is left out here, and nowhere else.
    """
    seen = _seen(receiver, act)
    match receiver.target:
        case AlertmanagerReceiver() as target:
            alertmanager.post_alerts(http, target, alerts.alerts(seen.notice, _now(), base))
            return ""
        case PagerDutyReceiver() as target:
            return pagerduty.deliver(http, target, seen, base)
        case SlackReceiver() as target:
            return slack.deliver(http, target, seen, base)
        case WebhookReceiver() as target:
            return webhook.deliver(http, target, seen, base)
        case EmailReceiver() as target:
            return mail.deliver(target, seen, base)
        case GitHubReceiver() as target:
            return github.deliver(http, target, seen, base)


def preview(receiver: Receiver, act: Act, base: str) -> str:
    """What would be sent, as text and without secrets."""
    seen = _seen(receiver, act)
    match receiver.target:
        case AlertmanagerReceiver():
            return _json(alerts.alerts(seen.notice, seen.notice.at, base))
        case PagerDutyReceiver():
            return _json(events.event(seen, base))
        case SlackReceiver():
            return _json(messages.message(seen, base))
        case WebhookReceiver():
            return _json(documents.document(seen, base))
        case EmailReceiver() as target:
            return mails.message(seen, target, base).as_string().replace("\r\n", "\n")
        case GitHubReceiver():
            return f"{issues.title(seen)}\n\n{issues.body(seen, base)}\n"


def kind_of(receiver: Receiver) -> str:
    """The word of the file for the kind of a receiver."""
    match receiver.target:
        case AlertmanagerReceiver():
            return "alertmanager"
        case PagerDutyReceiver():
            return "pagerduty"
        case SlackReceiver():
            return "slack"
        case WebhookReceiver():
            return "webhook"
        case EmailReceiver():
            return "email"
        case GitHubReceiver():
            return "github"


def place_text(receiver: Receiver) -> str:
    """Where a receiver is, as people read it, without secrets."""
    match receiver.target:
        case AlertmanagerReceiver(urls=urls):
            return ", ".join(urls)
        case PagerDutyReceiver(url=url):
            return url
        case SlackReceiver(channel=channel):
            return f"channel {channel}"
        case WebhookReceiver(url=url):
            return place_of(url)
        case EmailReceiver(to=to):
            return ", ".join(to)
        case GitHubReceiver(repository=repository):
            return repository


def _seen(receiver: Receiver, act: Act) -> Act:
    def seen(one: Any) -> Any:
        return one.seen_by(receiver.viewer)

    return replace(act, notice=seen(act.notice), earlier=tuple(map(seen, act.earlier)))


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _now() -> int:
    return time.time_ns() // 1_000
