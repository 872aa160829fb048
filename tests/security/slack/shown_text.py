"""What a message of Slack shows, as text."""

from typing import Any


def words(message: dict[str, Any]) -> str:
    """All text that a message shows, one item a line."""
    lines = []
    for block in message["blocks"]:
        for part in block.get("elements", [block]):
            for one in part["elements"] if part.get("style") == "bullet" else [part]:
                texts = one.get("elements", [one])
                lines.append("".join(map(_text, texts)))
    return "\n".join(lines)


def _text(one: dict[str, Any]) -> str:
    shown = one["text"]
    return str(shown["text"] if isinstance(shown, dict) else shown)
