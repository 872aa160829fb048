"""PagerDuty: events are sent to the Events API v2, which merges those with one `dedup_key`."""

from whence.govern.notifications.adapters.http import Http
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import PagerDutyReceiver
from whence.govern.notifications.rendering.pagerduty import event


def deliver(http: Http, receiver: PagerDutyReceiver, act: Act, base: str) -> str:
    """Send the event of an act. Returns the `dedup_key`. Raises DeliveryError."""
    http.send("POST", receiver.url, {"routing_key": receiver.routing_key.read(), **event(act, base)})
    return act.thread
