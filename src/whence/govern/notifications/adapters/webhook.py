"""Signed webhooks, for whatever has no adapter."""

import time

from whence.errors import DeliveryError
from whence.govern.notifications.adapters.http import Http, place_of
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import WebhookReceiver
from whence.govern.notifications.rendering.webhook import body
from whence.govern.webhook_signatures import SECRET_FORM, read_secret, signed_headers


def deliver(http: Http, receiver: WebhookReceiver, act: Act, base: str) -> str:
    """Send the document of an act. Returns nothing to refer to. Raises DeliveryError."""
    return post(http, receiver, act.id, body(act, base))


def post(http: Http, receiver: WebhookReceiver, id_: str, content: bytes) -> str:
    """Send a document under an id. Returns nothing to refer to. Raises DeliveryError."""
    headers = signed_headers(key_of(receiver), id_, int(time.time()), content)
    http.send("POST", receiver.url, content, {**headers, "Idempotency-Key": id_})
    return ""


def key_of(receiver: WebhookReceiver) -> bytes:
    """The key of a secret of the standard's form. Raises DeliveryError."""
    key = read_secret(receiver.secret.read())
    if key is None:
        raise DeliveryError(place_of(receiver.url), f"its secret has another form: {SECRET_FORM}")
    return key
