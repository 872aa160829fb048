"""A judgement as plain text, for a terminal or the log of a CI job."""

from collections.abc import Iterator

from whence.govern.gate.judgement import JudgedChange, Judgement
from whence.govern.gate.policy import Verdict
from whence.govern.gate.rendering.names import Names, names_of, printable, shortened
from whence.govern.gate.rendering.summary import NOT_JUDGED, Hit, Summary, headline, number
from whence.model.changes import shown_trial

_SHOWN = 8


def text_lines(judgement: Judgement, summary: Summary) -> Iterator[str]:
    """The verdict, what matters most, each change with its reasons, and what is needed to pass."""
    names = names_of(judgement)
    yield headline(judgement, summary)
    yield from _hit_lines(summary, names)
    for one in judgement.changes:
        if one.verdict is not Verdict.PASS:
            yield from _change_lines(one, names)
    yield from _unconfirmed_lines(judgement, names)
    yield from _unjudged_lines(judgement)
    for required in judgement.required:
        people = ", ".join(map(_shown, required.people)) or "anybody but the author"
        approved = f"approved by {_shown(required.approved_by)}" if required.approved_by else f"missing ({people})"
        yield f"approval of {_shown(required.owner) or 'what nobody owns'}: {approved}"
    for stale in judgement.stale:
        yield f"stale approval: {_shown(stale.person)} approved {_shown(stale.commit[:12])}, not this commit"
    for lapsed in judgement.lapsed:
        yield f"expired waiver: {_shown(lapsed.change)}, on {lapsed.expires}"
    if judgement.skipped:
        yield f"left out by gate.yaml: {number(judgement.skipped, 'change')}"
    yield from (f"note: {_shown(one)}" for one in judgement.notices)


def _hit_lines(summary: Summary, names: Names) -> Iterator[str]:
    shown = summary.leading or summary.hits
    for hit in shown[:_SHOWN]:
        yield f"  {_hit_text(hit, names)}"
    rest = len(summary.hits) - len(shown[:_SHOWN])
    if rest > 0:
        yield f"  and {number(rest, 'more node')}"
    if summary.hidden:
        yield f"  and {number(summary.hidden, 'node')} that this key may not see"


def _hit_text(hit: Hit, names: Names) -> str:
    owners = f", {', '.join(map(_shown, hit.facts.owners))}" if hit.facts.owners else ""
    tier = f", tier {hit.facts.tier}" if hit.facts.tier is not None else ""
    return f"{hit.kind}  {_shown(names.of(hit.subject))}  {hit.nearest.reach.text}{tier}{owners}"


def _change_lines(one: JudgedChange, names: Names) -> Iterator[str]:
    change = one.change
    place = f"{change.file}:{change.line}" if change.line else change.file
    name = _shown(names.of_change(change))
    yield f"{one.id}  {one.verdict.text}  {name}  {change.kind}  {_shown(place)}".rstrip()
    if versions := [_shown(one) for one in (change.before, change.after) if one]:
        yield f"    {' -> '.join(versions)}"
    if change.reason:
        yield f"    {_shown(change.reason)}"
    if trial := shown_trial(change):
        yield f"    {_shown(trial)}"
    for reason in one.reasons:
        yield f"    {reason.text}"
    if one.waiver:
        yield f"    waived until {one.waiver.expires} by {_shown(one.waiver.owner)}: {_shown(one.waiver.reason)}"


def _unconfirmed_lines(judgement: Judgement, names: Names) -> Iterator[str]:
    """The changes that pass because executing both versions showed no difference."""
    found = [one for one in judgement.changes if one.is_unconfirmed_pass]
    for one in found[:_SHOWN]:
        name, trial = _shown(names.of_change(one.change)), _shown(shown_trial(one.change))
        yield f"{one.id}  not confirmed  {name}  {trial}".rstrip()
    if len(found) > _SHOWN:
        yield f"not confirmed: {number(len(found) - _SHOWN, 'more change')}"


def _unjudged_lines(judgement: Judgement) -> Iterator[str]:
    files = judgement.unjudged.files
    yield from (f"not judged  {_shown(one)}  {NOT_JUDGED}" for one in files[:_SHOWN])
    if len(files) > _SHOWN:
        yield f"not judged  {number(len(files) - _SHOWN, 'more file')}"


def _shown(text: str) -> str:
    return printable(shortened(text, 200))
