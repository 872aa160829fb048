"""Alertmanager: alerts are posted to every replica, which together send one notification."""

from collections.abc import Sequence

from whence.errors import DeliveryError
from whence.govern.notifications.adapters.http import Http
from whence.govern.notifications.receivers import AlertmanagerReceiver
from whence.govern.notifications.rendering.alertmanager import Alert

_AT_ONCE = 500


def post_alerts(http: Http, receiver: AlertmanagerReceiver, alerts: Sequence[Alert]) -> None:
    """Post alerts to every replica. Raises DeliveryError if none accepts them; the others get them when sent again."""
    headers = {"Authorization": f"Bearer {receiver.token.read()}"} if receiver.token else {}
    failures = []
    for url in receiver.urls:
        try:
            for first in range(0, len(alerts), _AT_ONCE):
                http.send("POST", f"{url}/api/v2/alerts", list(alerts[first : first + _AT_ONCE]), headers)
        except DeliveryError as error:
            failures.append(error)
    if len(failures) == len(receiver.urls):
        raise failures[0]
