"""HTML without scripts, in which every text is escaped."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem;table-layout:auto}"
    "th,td{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}"
    "td{overflow-wrap:break-word;white-space:pre-line}th{background:#f6f8fa}"
    "dt{font-weight:600}dd{margin:0 0 .5rem;overflow-wrap:anywhere}"
    "code{font-family:ui-monospace,monospace;font-size:.92em;overflow-wrap:anywhere}time{white-space:nowrap}"
    "@media(max-width:50rem){th,td{overflow-wrap:anywhere}time{white-space:normal}}.note{color:#57606a}"
    ".warn{border-left:4px solid #bf8700;padding:.2rem .8rem;background:#fff8c5}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""No script runs, and nothing is loaded, whatever a name contains."""


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of HTML that is escaped already."""

    text: str


Part = Html | str


def text_of(part: Part) -> str:
    """The HTML of a part: a text is escaped, and its invisible characters are shown as codes."""
    if isinstance(part, Html):
        return part.text
    return escape("".join(_visible(one) for one in part))


def _visible(character: str) -> str:
    """Control characters, and those that change the direction of text, could make one name look like another."""
    category = unicodedata.category(character)
    return f"\\u{ord(character):04x}" if category in ("Cc", "Cf", "Cs") and character != "\n" else character


def element(name: str, *parts: Part, class_: str = "") -> Html:
    """An element with its content."""
    start = f'<{name} class="{class_}">' if class_ else f"<{name}>"
    return Html(f"{start}{''.join(map(text_of, parts))}</{name}>")


def table(heads: Sequence[str], rows: Iterable[Sequence[Part]]) -> Html:
    """A table with a head."""
    head = element("tr", *(element("th", one) for one in heads))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    return element("table", element("thead", head), element("tbody", *body))


def identifiers(several: Iterable[str]) -> Html:
    """Names without spaces, which may break anywhere: one on a line."""
    return element("code", "\n".join(several))


def instant(text: str | None) -> Html:
    """A time, which does not break; empty if there is none."""
    return element("time", text or "")


def description_list(members: Iterable[tuple[str, Part]]) -> Html:
    """Terms with their descriptions."""
    return element("dl", *(one for term, part in members for one in (element("dt", term), element("dd", part))))


def document(title: str, *parts: Part) -> bytes:
    """A whole page."""
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">'
        f"{element('title', title).text}<style>{STYLE}</style>"
    )
    body = "".join(map(text_of, parts))
    page = f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'
    return page.encode("utf-8", "backslashreplace")
