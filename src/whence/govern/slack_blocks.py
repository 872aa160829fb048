"""Messages of Slack in Block Kit.

Names come from anybody's events. They are in `rich_text` and `plain_text`, in which Slack reads no markup and no
mention; only the fallback `text` of a message is read, so it is escaped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from whence.govern.gate.rendering.names import printable, shortened

Block = dict[str, Any]
_LONGEST_HEADER, _LONGEST_TEXT = 150, 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message: its title, lines under it, the items of a list, and lines at the end; `link`: more of it."""

    title: str
    about: str = ""
    items: Sequence[Block] = ()
    notes: Sequence[str] = ()
    link: str = ""


def document(message: Message, *, in_channel: bool = False) -> Block:
    """The answer to a slash command: for the person who sent it, or for the whole channel."""
    return {
        "response_type": "in_channel" if in_channel else "ephemeral",
        **content(message),
    }


def content(message: Message) -> Block:
    """The blocks of a message, and the text in their place where there are none: in notifications of a phone."""
    return {
        "text": escape(clean(message.title, _LONGEST_HEADER), quote=False),
        "blocks": [*_blocks(message)],
    }


def item(*parts: Block) -> Block:
    """One item of a list."""
    return {"type": "rich_text_section", "elements": list(parts)}


def text(words: str, *, bold: bool = False, code: bool = False) -> Block:
    """Text that is shown as it is."""
    style = {name: True for name, is_set in (("bold", bold), ("code", code)) if is_set}
    return {"type": "text", "text": clean(words) or " ", **({"style": style} if style else {})}


def clean(words: str, longest: int = _LONGEST_TEXT) -> str:
    """Foreign text without control characters, at most so long."""
    return shortened(printable(words), longest)


def _blocks(message: Message) -> Iterable[Block]:
    yield {"type": "header", "text": _plain(message.title, _LONGEST_HEADER)}
    if message.about:
        yield _context([message.about])
    if message.items:
        yield {
            "type": "rich_text",
            "elements": [{"type": "rich_text_list", "style": "bullet", "elements": list(message.items)}],
        }
    if message.notes:
        yield _context(message.notes)
    if message.link:
        link = {"type": "link", "url": message.link, "text": "Open in Whence"}
        yield {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [link]}]}


def _context(lines: Sequence[str]) -> Block:
    return {"type": "context", "elements": [_plain(line, 300) for line in lines[:10]]}


def _plain(words: str, longest: int) -> Block:
    return {"type": "plain_text", "text": clean(words, longest) or " ", "emoji": False}
