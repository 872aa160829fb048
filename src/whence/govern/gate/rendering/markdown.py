"""A judgement as a comment on a pull request: Markdown of GitHub and GitLab, within their limits.

It leads with the dashboards, models and certified datasets that are affected. Foreign text is in code spans only.
"""

from collections.abc import Iterator, Sequence

from whence.govern.gate.judgement import NOBODY, Head, JudgedChange, Judgement, RequiredApproval
from whence.govern.gate.policy import Verdict
from whence.govern.gate.rendering.names import Names, code, names_of
from whence.govern.gate.rendering.summary import NOT_JUDGED, Hit, Summary, headline, number
from whence.model.changes import shown_trial

MARKER = "<!-- whence:gate -->"
"""The first line of every comment of the gate, by which it finds its own again."""
LONGEST = 60_000
"""Characters. GitHub refuses a comment of more than 65,536."""

_SHOWN_HITS = 20
_ICONS = {
    Verdict.PASS: "✅",
    Verdict.NOTE: "ℹ️",
    Verdict.APPROVAL_NEEDED: "✋",
    Verdict.UNKNOWN: "❓",
    Verdict.BLOCKED: "⛔",
}


def markdown(judgement: Judgement, summary: Summary, link: str = "") -> str:
    """The comment: at most `LONGEST` characters; of a long list, the first rows and how many more there are.

    `link`: the address of the verdict's page, if there is one.
    """
    title = f"{_ICONS[judgement.verdict]} Whence gate: {headline(judgement, summary)}"
    head = f"{MARKER}\n### {title}\n\n{_line(judgement, summary, link)}\n"
    left = LONGEST - len(head)
    parts = [head]
    for section in _sections(judgement, summary):
        text = _fitted(section, left)
        parts.append(text)
        left -= len(text)
    return "".join(parts)


def _line(judgement: Judgement, summary: Summary, link: str) -> str:
    count = len(summary.hits) + summary.hidden
    hidden = f" ({summary.hidden:,} hidden from this key)" if summary.hidden else ""
    parts = [f"{number(count, 'node')} downstream{hidden}"]
    if judgement.head.commit:
        parts.append(_commit(judgement.head))
    if judgement.graph_version:
        parts.append(f"graph {code(judgement.graph_version)}")
    if link:
        parts.append(f"[open the verdict](<{link}>)")
    return " · ".join(parts)


def _commit(head: Head) -> str:
    if not head.reviewed:
        return f"commit {code(head.commit[:12])}"
    return f"commit {code(head.reviewed[:12])}, merged as {code(head.commit[:12])}"


class _Section:
    """A title, lines that are always there, rows that may be cut, and an end."""

    def __init__(self, title: str, head: Sequence[str], rows: Sequence[str], end: str = "") -> None:
        self.title, self.head, self.rows, self.end = title, head, rows, end


def _sections(judgement: Judgement, summary: Summary) -> Iterator[_Section]:
    names = names_of(judgement)
    if leading := summary.leading:
        yield _Section("#### Affected first of all", _HIT_HEAD, [_hit_row(one, names) for one in leading[:_SHOWN_HITS]])
    shown = [one for one in judgement.changes if one.verdict is not Verdict.PASS]
    if shown:
        yield _Section("#### Changes", _CHANGE_HEAD, [_change_row(one, names) for one in shown])
    if unconfirmed := [one for one in judgement.changes if one.is_unconfirmed_pass]:
        title = f"<details><summary>{number(len(unconfirmed), 'change')} of code not confirmed</summary>\n"
        yield _Section(title, (), [_unconfirmed_row(one, names) for one in unconfirmed], "\n</details>\n")
    if files := judgement.unjudged.files:
        rows = [f"- {code(one)}: {NOT_JUDGED}" for one in files]
        yield _Section("#### Not judged", (), rows)
    if judgement.required:
        yield _Section("#### Approvals", _APPROVAL_HEAD, list(_approval_rows(judgement)))
    if notes := list(_notes(judgement)):
        yield _Section("#### To know", (), notes)
    if summary.hits:
        count = number(len(summary.hits), "named node")
        title = f"<details><summary>{'All ' if len(summary.hits) > 1 else ''}{count} downstream</summary>\n"
        yield _Section(title, _HIT_HEAD, [_hit_row(one, names) for one in summary.hits], "\n</details>\n")


_HIT_HEAD = ("| | node | by | changes | owners |", "|-|-|-|-|-|")
_CHANGE_HEAD = ("| change | what | verdict | why | first affected |", "|-|-|-|-|-|")
_APPROVAL_HEAD = ("| for | who may | approved by | changes |", "|-|-|-|-|")


def _hit_row(hit: Hit, names: Names) -> str:
    tier = f", tier {hit.facts.tier}" if hit.facts.tier is not None else ""
    way = f"{hit.nearest.reach.text}, {number(hit.nearest.distance, 'hop')}"
    node = code(names.of(hit.subject))
    return f"| {hit.kind}{tier} | {node} | {way} | {_few(hit.changes)} | {_few(hit.facts.owners) or 'nobody'} |"


def _change_row(one: JudgedChange, names: Names) -> str:
    why = "; ".join(reason.text for reason in one.reasons) or "no one is affected"
    if one.waiver:
        why += f"; waived until {one.waiver.expires} by {code(one.waiver.owner)}: {code(one.waiver.reason)}"
    what = f"{code(names.of_change(one.change))} **{one.change.kind}**{_place(one)}"
    if one.change.reason:
        what += f"<br>{code(one.change.reason)}"
    if trial := shown_trial(one.change):
        what += f"<br>{code(trial)}"
    nearest = [names.of(node.node) for node in one.impact.affected[:3]]
    return f"| {code(one.id)} | {what} | {one.verdict.text} | {why} | {_few(nearest, 3)} |"


def _unconfirmed_row(one: JudgedChange, names: Names) -> str:
    return f"- {code(one.id)} {code(names.of_change(one.change))}: the code differs; {shown_trial(one.change)}"


def _place(one: JudgedChange) -> str:
    change = one.change
    versions = " → ".join(code(one) for one in (change.before, change.after) if one)
    line = f":{change.line}" if change.line else ""
    return (f"<br>{versions}" if versions else "") + (f"<br>in {code(change.file + line)}" if change.file else "")


def _approval_rows(judgement: Judgement) -> Iterator[str]:
    for one in judgement.required:
        owner = code(one.owner) if one.owner else "what nobody owns"
        people = _few(one.people) or "anybody but the author"
        approved_by = code(one.approved_by) if one.approved_by else "—"
        yield f"| {owner} | {people} | {approved_by} | {_subjects(one, judgement)} |"


def _subjects(one: RequiredApproval, judgement: Judgement) -> str:
    """The changes that an approval is about, and the files that nothing judged."""
    unjudged = judgement.unjudged
    parts = [_few(one.changes)] if one.changes else []
    if unjudged.needs_approval and one.owner == NOBODY:
        parts.append(f"{number(len(unjudged.files), 'file')} not judged")
    return ", ".join(parts)


def _notes(judgement: Judgement) -> Iterator[str]:
    yield from (f"- {code(one)}" for one in judgement.notices)
    if judgement.skipped:
        yield f"- {number(judgement.skipped, 'change')} in files that `gate.yaml` leaves out"
    for stale in judgement.stale:
        yield f"- {code(stale.person)} approved {code(stale.commit[:12])}, not this commit: approve again"
    for lapsed in judgement.lapsed:
        yield f"- the waiver of {code(lapsed.change)} expired on {lapsed.expires}"


def _few(texts: Sequence[str], most: int = 3) -> str:
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(map(code, texts[:most])) + more


def _fitted(section: _Section, left: int) -> str:
    """The section with as many rows as there is room for; nothing if there is none for its head."""
    head = "\n".join(["", section.title, "", *section.head, ""])
    room = left - len(head) - len(section.end) - 60
    rows: list[str] = []
    for row in section.rows:
        if (room := room - len(row) - 1) < 0:
            break
        rows.append(row)
    if not rows:
        return ""
    more = f"\n{len(section.rows) - len(rows):,} more are left out here.\n" if len(rows) < len(section.rows) else ""
    return head + "\n".join(rows) + "\n" + more + section.end
