"""`whence incident list` and `show`, as text and JSON."""

import shlex
from collections.abc import Iterator, Sequence

import msgspec
from rich.text import Text

from whence.cli.incidents.store import IncidentQuestions
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.incidents import (
    AffectedNode,
    Incident,
    IncidentAct,
    IncidentChange,
    IncidentDetail,
    IncidentFinding,
    IncidentPause,
)
from whence.client.answers.diagnosis import PossibleCause
from whence.client.values.history import Commit
from whence.query.answers.instants import iso
from whence.query.answers.probabilities import probability_text

_MOST_NAMED = 10
"""Names in one line of text."""


def show_incidents(
    questions: IncidentQuestions, states: Sequence[str], dataset: str, as_of: int | None, output: Output
) -> Exit:
    """Print incidents, two lines each."""
    found = questions.incidents(states=states, dataset=dataset, as_of=_text(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
        return Exit.OK
    lines = [line for one in found.incidents for line in _summary(one)] or ["No incident."]
    if found.hidden:
        lines.append(f"and {found.hidden} of datasets that this key may not see")
    if not found.complete:
        lines.append("not all failed runs and checks were read: there are too many")
    print_lines(map(Text, lines))
    return Exit.OK


def show_incident(questions: IncidentQuestions, id_: str, as_of: int | None, output: Output) -> Exit:
    """Print an incident with its findings, its states, and what people did."""
    found = questions.incident(id_, as_of=_text(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(map(Text, detail_lines(found, id_)))
    return Exit.OK


def _text(as_of: int | None) -> str | None:
    return None if as_of is None else iso(as_of)


def _summary(one: Incident) -> Iterator[str]:
    yield f"{one.id}  {_state(one)}  {safe(one.title)}"
    parts = [f"since {second(one.since)}", _whose(one)]
    if one.silenced_until:
        parts.append(f"silenced until {second(one.silenced_until)}")
    if not one.complete:
        parts.append("root may be further upstream")
    yield f"  {', '.join(filter(None, parts))}"


def detail_lines(found: IncidentDetail, requested: str) -> Iterator[str]:
    """An incident as lines. `requested`: the id by which it was found."""
    one = found.incident
    if requested != one.id:
        yield f"{safe(requested)} was merged into {one.id}"
    yield from _summary(one)
    yield f"  root: {safe(one.root) if one.root else 'a dataset that this key may not see'}"
    for name, several in (("also root", one.roots[1:]), ("symptoms", one.symptoms), ("or caused by", one.other_roots)):
        if several:
            yield f"  {name}: {_names(several)}"
    if one.hidden_datasets:
        yield f"  and {one.hidden_datasets} datasets that this key may not see"
    if one.cause:
        yield f"  confirmed cause: {safe(one.cause)}"
    if one.notify_rule:
        yield f"  {one.notify or 'nobody is told'}: {safe(one.notify_rule)}"
    yield from _around(found)
    yield "findings:"
    yield from map(_finding, found.findings)
    yield "history:"
    yield from _history(found)


def _around(found: IncidentDetail) -> Iterator[str]:
    """What is known around the root."""
    yield f"  severity: {found.severity}"
    if found.incident.root is None:
        yield "  its possible causes, and whom it affects, are not shown to this key"
        return
    if found.runbook:
        yield f"  runbook: {safe(found.runbook)}"
    elif found.incident.notify == "page":
        yield "  runbook: none, although it pages: whence tags add ROOT runbook=https://…"
    if good := found.last_good:
        yield f"  last good run: {second(good.time)}  {safe(good.job)}  {safe(good.run)}{_commit(good.commit)}"
    yield from _mitigation(found)
    for each in found.impact:
        names = _names([_affected(one) for one in each.nearest])
        yield f"  affects {each.total} {safe(each.kind)}{'s' if each.total != 1 else ''}{f': {names}' if names else ''}"
    if not found.impact_complete:
        yield "  and more: not all downstream nodes were counted"
    for cause in found.causes:
        yield f"  possible cause: {probability_text(cause.probability)} {safe(cause.node)}{_evidence(cause)}"
    for up in found.upstream:
        written = f"written {second(up.last_written)}" if up.last_written else "no write known"
        yield f"  made of: {safe(up.dataset)}, {written}{', wrong' if up.wrong else ''}"
    for rule in found.contract_violations:
        column = f" of {safe(rule.column)}" if rule.column else ""
        when = f"{second(rule.since)} to {second(rule.until)}" if rule.until else f"since {second(rule.since)}"
        yield f"  contract violated {when}: {safe(rule.rule)}{column}  {safe(rule.dataset)}"
    if not found.violations_complete:
        yield "  and perhaps more: not everything that contracts are judged by was read"
    for budget in found.budgets:
        left = "nothing may be bad" if budget.remaining is None else f"{budget.remaining:.0%} of the budget left"
        yield f"  objective {safe(budget.slo)}: {left}"


def _mitigation(found: IncidentDetail) -> Iterator[str]:
    """Where to roll back to, and what to pause; nothing unless data is wrong now."""
    if found.pause is None:
        return
    if back := found.rollback:
        version = f", version {safe(back.version)}" if back.version else ", version not reported"
        run = f"{second(back.time)}  {safe(back.job)}  {safe(back.run)}{_commit(back.commit)}{version}"
        unknown = "" if back.checked and not back.hidden else "; cannot know: checks or inputs of it are not shown"
        yield f"  roll back to: {run}{unknown}"
    else:
        reason = "no run that is known can be trusted" if found.last_good else "no earlier run is known that wrote it"
        yield f"  roll back to: {reason}"
    yield from _pause(found.pause)


def _pause(one: IncidentPause) -> Iterator[str]:
    if one.total:
        names = _names([f"{each.system} {each.id}{' (runs now)' if each.running else ''}" for each in one.schedules])
        yield f"  could be paused: {one.total} schedule{'s' if one.total != 1 else ''}: {names}"
    others = {
        "of which no schedule is known": one.unscheduled,
        "that do not report which columns they read": one.uncertain,
        "that this key may not see": one.hidden,
    }
    for what, count in others.items():
        if count:
            yield f"  not to be paused here: {count} job{'s' if count != 1 else ''} {what}"
    if one.total or any(others.values()):
        yield f"  plan: whence contain plan {safe(shlex.quote(one.node))}"


def _commit(commit: Commit | None) -> str:
    return f", commit {safe(commit.version or commit.url)}" if commit else ""


def _affected(one: AffectedNode) -> str:
    return f"{one.node} of {', '.join(one.owners)}" if one.owners else one.node


def _evidence(cause: PossibleCause) -> str:
    return f": {'; '.join(safe(one.text) for one in cause.evidence[-2:])}" if cause.evidence else ""


def _history(found: IncidentDetail) -> Iterator[str]:
    """States and acts in one order; an act that made a state comes with it."""
    lines = [(one.time, 0, _change(one)) for one in found.changes if not one.by]
    lines += [(one.time, 1, _act(one)) for one in found.acts]
    for _, _, line in sorted(lines):
        yield line


def _finding(one: IncidentFinding) -> str:
    until = f" until {second(one.until)}" if one.until else ""
    texts = filter(None, (one.rule, one.reason))
    where = f"{one.dataset}, column {one.column}" if one.column else one.dataset
    return f"  {one.kind} since {second(one.since)}{until}  {safe(where)}: {safe(', '.join(texts)) or 'failed'}"


def _change(one: IncidentChange) -> str:
    notify = f", {one.notify}" if one.notify else ""
    reason = f": {safe(one.reason)}" if one.reason else ""
    return f"  {second(one.time)}  {one.state}{notify}{reason}"


def _act(one: IncidentAct) -> str:
    until = f"until {second(one.until)}" if one.until else ""
    texts = [safe(text) for text in (one.assignee, one.cause, until, one.text) if text]
    detail = f": {', '.join(texts)}" if texts else ""
    return f"  {second(one.time)}  {one.act} by {safe(one.person or 'somebody not verified')}{detail}"


def _state(one: Incident) -> str:
    return f"{one.state}, {one.notify}" if one.notify else one.state


def _whose(one: Incident) -> str:
    if one.assignee:
        return f"assigned to {safe(one.assignee)}"
    return f"of {safe(', '.join(one.owners))}" if one.owners else f"of {one.routed_to}" if one.routed_to else ""


def _names(several: Sequence[str]) -> str:
    more = f" and {len(several) - _MOST_NAMED} more" if len(several) > _MOST_NAMED else ""
    return f"{', '.join(map(safe, several[:_MOST_NAMED]))}{more}"


def second(time: str) -> str:
    """A time as people read it: its second."""
    return f"{time.partition('.')[0].removesuffix('Z')}Z"
