"""The words of a notice that all forms share."""

import re
from collections.abc import Iterator

from whence.govern.gate.impact import is_hidden, subject_of
from whence.govern.gate.rendering.names import HIDDEN_NAME, printable, shortened
from whence.govern.notifications.notice import Link, Notice, State, Symptom
from whence.model.names import FieldName, Node
from whence.query.answers.instants import iso

_LONGEST_TITLE, _LONGEST_TEXT = 150, 300
_MOST_SYMPTOMS, _MOST_DETAILS = 10, 23
_SECOND = 1_000_000
_MENTION = re.compile(r"@(?=(everyone|here|channel|all)\b)", re.IGNORECASE)
_OPENING = {"<": "‹", ">": "›"}
"""They begin and end mentions of Slack, links and HTML, wherever a receiver's own template puts a text."""

Row = tuple[str, str]


def inert(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Foreign text for a place that somebody else's template renders: one line, no mention, no tag."""
    plain = clean(text, longest)
    return _MENTION.sub("＠", "".join(_OPENING.get(letter, letter) for letter in plain))


def clean(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Foreign text as one line without control characters, at most so long."""
    return shortened(printable(text), longest)


def name_text(node: Node) -> str:
    """A node with its namespace, as production, staging and development may have one of the same name."""
    if is_hidden(node):
        return HIDDEN_NAME
    subject = subject_of(node)
    column = f".{node.field}" if isinstance(node, FieldName) else ""
    return f"{subject.namespace}/{subject.name}{column}"


def headline(notice: Notice) -> str:
    """The title with what somebody has to know at 2 a.m.: how urgent it is, or that it is over."""
    word = notice.severity if notice.state is State.OPEN else notice.state
    return clean(f"[{word.upper()}] {notice.title}", _LONGEST_TITLE)


def rows(notice: Notice) -> Iterator[Row]:
    """What people read below the title: label and text. Texts are foreign, and not made harmless yet."""
    yield "State", _state(notice)
    yield "Root", name_text(notice.root)
    yield "Owner", ", ".join(notice.owners) or "nobody"
    yield from ((label, text) for label, text in (("Tier", notice.tier), ("Domain", notice.domain)) if text)
    yield from ((one.label, one.text) for one in notice.details[:_MOST_DETAILS])
    if notice.runbook:
        yield "Runbook", notice.runbook
    if notice.silence and not notice.state.is_over:
        yield "Silence it", notice.silence


def symptom_lines(notice: Notice) -> Iterator[str]:
    """The symptoms, the root's first, and how many more there are. Texts are foreign, and not made harmless yet."""
    ordered = sorted(notice.symptoms, key=lambda one: (one.node != notice.root, one.since, str(one.node), one.rule))
    yield from map(_symptom, ordered[:_MOST_SYMPTOMS])
    if len(ordered) > _MOST_SYMPTOMS:
        yield f"{len(ordered) - _MOST_SYMPTOMS:,} more are not listed"
    if notice.unseen:
        yield f"{notice.unseen:,} more may not be seen here"


def pages(notice: Notice, base: str) -> Iterator[Row]:
    """Title and address of the pages of Whence about an incident. `base`: where browsers find it; empty: none."""
    if base:
        yield from ((one.title, _address(base, one)) for one in notice.links)


def runbook_address(notice: Notice) -> str:
    """The address of the runbook; empty if it is none that is safe to follow."""
    is_address = notice.runbook.startswith(("https://", "http://")) and printable(notice.runbook) == notice.runbook
    return notice.runbook if is_address and not set(notice.runbook) & set(" <>\"'`|\\") else ""


def minute(time: int) -> str:
    """A time as people read it."""
    return iso(time)[:16].replace("T", " ") + " UTC"


def length_text(length: int) -> str:
    """A duration (µs) in at most two units."""
    minutes = max(round(length / (60 * _SECOND)), 0)
    days, hours, minutes = minutes // 1_440, minutes // 60 % 24, minutes % 60
    parts = [f"{number} {unit}" for number, unit in ((days, "d"), (hours, "h"), (minutes, "min")) if number]
    return " ".join(parts[:2]) or "less than a minute"


def _state(notice: Notice) -> str:
    word = notice.state.capitalize()
    if notice.resolved_at is not None:
        return f"{word} at {minute(notice.resolved_at)} after {length_text(notice.resolved_at - notice.since)}"
    return f"{word} since {minute(notice.since)}"


def _symptom(one: Symptom) -> str:
    return f"{name_text(one.node)}: {one.text or 'violated'} ({one.rule}, {_period(one)})"


def _period(one: Symptom) -> str:
    begin = minute(one.since)
    if one.until is None:
        return f"since {begin}"
    end = minute(one.until)
    day, time = end.split(" ", 1)
    return f"{begin.removesuffix(' UTC')} to {time if begin.startswith(day) else end}"


def _address(base: str, link: Link) -> str:
    return f"{base.rstrip('/')}/{link.path.lstrip('/')}"
