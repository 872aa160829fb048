"""An issue of GitHub, its title and comments. Foreign texts are code spans, in which nothing is markup."""

from collections.abc import Iterator

from whence.govern.gate.rendering.names import code
from whence.govern.notifications.notice import Act
from whence.govern.notifications.rendering.texts import headline, inert, pages, rows, runbook_address, symptom_lines

_LONGEST_BODY = 60_000


def title(act: Act) -> str:
    """The title of the issue."""
    return inert(headline(act.notice))


def body(act: Act, base: str = "") -> str:
    """The text of the issue."""
    return "\n".join([thread_marker(act), *_lines(act, base)])[:_LONGEST_BODY]


def comment(act: Act, base: str = "") -> str:
    """The text of a comment on a later state."""
    return "\n".join([act_marker(act), *_lines(act, base)])[:_LONGEST_BODY]


def thread_marker(act: Act) -> str:
    """What the issue of an incident begins with."""
    return f"<!-- whence incident {act.thread} -->"


def act_marker(act: Act) -> str:
    """What the comment of an act begins with."""
    return f"<!-- whence notification {act.id} -->"


def _lines(act: Act, base: str) -> Iterator[str]:
    notice = act.notice
    yield f"**{notice.state.capitalize()}** {code(notice.title)}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    runbook = runbook_address(notice)
    for label, words in rows(notice):
        yield f"| {code(label)} | {f'<{runbook}>' if runbook and label == 'Runbook' else code(words)} |"
    if symptoms := [*symptom_lines(notice)]:
        yield ""
        yield "Symptoms:"
        yield ""
        yield from (f"- {code(line)}" for line in symptoms)
    if links := [*pages(notice, base)]:
        yield ""
        yield " · ".join(f"[{name}]({address})" for name, address in links)
