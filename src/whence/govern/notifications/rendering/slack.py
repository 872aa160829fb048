"""The message of Slack about an incident: posted once, and edited from then on."""

from typing import Any

from whence.govern.notifications.notice import Act
from whence.govern.notifications.rendering.texts import headline, name_text, pages, rows, symptom_lines
from whence.govern.slack_blocks import Block, Message, content, item, text

EVENT_TYPE = "whence_incident"


def message(act: Act, base: str = "") -> dict[str, Any]:
    """Text, blocks and metadata. The metadata lets a message be found whose delivery was not noticed."""
    notice = act.notice
    links = list(pages(notice, base))
    shown = Message(
        title=headline(notice),
        about=f"{name_text(notice.root)} · {', '.join(notice.owners) or 'nobody owns it'}",
        items=[_row(label, words) for label, words in rows(notice)],
        notes=[*symptom_lines(notice)][:10],
        link=links[0][1] if links else "",
    )
    return {**content(shown), "metadata": metadata_of(act.thread, act.id)}


def metadata_of(thread: str, act: str) -> dict[str, Any]:
    """What a message is known by."""
    return {"event_type": EVENT_TYPE, "event_payload": {"thread": thread, "act": act}}


def _row(label: str, words: str) -> Block:
    return item(text(f"{label}: ", bold=True), text(words))
