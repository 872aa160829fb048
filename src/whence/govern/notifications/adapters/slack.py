"""Slack: one message for each incident, which is edited from then on."""

from typing import Any

from whence.errors import DeliveryError
from whence.govern.notifications.adapters.http import Http, Json
from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import SlackReceiver
from whence.govern.notifications.rendering.slack import EVENT_TYPE, message, metadata_of

_NO_HISTORY = ("missing_scope", "not_in_channel", "channel_not_found")
"""The app may post and not read: then a message can be there twice after a kill."""
_GONE = ("message_not_found", "cant_update_message", "edit_window_closed")


def deliver(http: Http, receiver: SlackReceiver, act: Act, base: str) -> str:
    """Post the message, or edit the one that is there. Returns its channel and time. Raises DeliveryError."""
    sent = message(act, base)
    oldest = min(one.at for one in (*act.earlier, act.notice))
    place = act.reference or (_find(http, receiver, act.thread, oldest) if act.is_repeated else "")
    channel, _, time = place.partition("/")
    if time:
        edited = _call(http, receiver, "chat.update", {**sent, "channel": channel, "ts": time}, _GONE)
        if edited is not None:
            return place
    return post(http, receiver, sent)


def post_once(http: Http, receiver: SlackReceiver, sent: Json, thread: str, since: int, *, is_repeated: bool) -> str:
    """Post a message that is never edited, unless one of its thread was posted since a time (µs). Returns its place.

    Raises DeliveryError.
    """
    place = _find(http, receiver, thread, since) if is_repeated else ""
    return place or post(http, receiver, {**sent, "metadata": metadata_of(thread, thread)})


def post(http: Http, receiver: SlackReceiver, sent: Json) -> str:
    """Post a message. Returns its channel and time. Raises DeliveryError."""
    options = {"channel": receiver.channel, "unfurl_links": False, "unfurl_media": False}
    posted = _call(http, receiver, "chat.postMessage", {**sent, **options})
    return f"{posted.get('channel') or receiver.channel}/{posted.get('ts')}"


def _find(http: Http, receiver: SlackReceiver, thread: str, since: int) -> str:
    """The message of a thread, if an earlier attempt posted it since a time (µs)."""
    query: dict[str, str | int] = {"channel": receiver.channel, "include_all_metadata": "true", "limit": 200}
    query["oldest"] = f"{since / 1e6:.6f}"
    found = _checked(
        receiver,
        "conversations.history",
        http.send("GET", f"{receiver.url}/conversations.history", None, _headers(receiver), query),
        _NO_HISTORY,
    )
    for one in (found or {}).get("messages") or ():
        metadata = one.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        if metadata.get("event_type") == EVENT_TYPE and payload.get("thread") == thread:
            return f"{receiver.channel}/{one.get('ts')}"
    return ""


def _call(http: Http, receiver: SlackReceiver, method: str, sent: Json, expected: tuple[str, ...] = ()) -> Any:
    headers = {**_headers(receiver), "Content-Type": "application/json; charset=utf-8"}
    return _checked(receiver, method, http.send("POST", f"{receiver.url}/{method}", sent, headers), expected)


def _headers(receiver: SlackReceiver) -> dict[str, str]:
    return {"Authorization": f"Bearer {receiver.token.read()}"}


def _checked(receiver: SlackReceiver, method: str, answer: Any, expected: tuple[str, ...]) -> Any:
    """The answer; None for an expected error. Slack answers 200 to requests that it refuses. Raises DeliveryError."""
    if isinstance(answer, dict) and answer.get("ok") is True:
        return answer
    reason = str(answer.get("error")) if isinstance(answer, dict) else "the answer is not JSON"
    if reason in expected:
        return None
    raise DeliveryError(receiver.url, f"{method} was refused: {reason[:100]}")
