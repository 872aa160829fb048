"""The work of `whence changes`: what changed upstream of a node, as a timeline."""

from collections.abc import Iterator
from typing import Unpack

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.changes import SIGNS
from whence.cli.answers.impact import closing_line
from whence.cli.answers.tree import Style, number
from whence.cli.output.labels import Labels, label, name_of, short_run
from whence.cli.output.streams import Exit, Rows, safe
from whence.client.answers.history import ChangesUpstream
from whence.client.options import Bounds, Time
from whence.client.values.timeline import ChangedPart, ChangesNotKnown, ChangeUpstream, describe_change

_COLOURS = {"failed": "bold red", "violated": "bold red", "recovered": "green", "fulfilled": "green"}
_NOT_KNOWN = {
    "hidden": "{count} upstream that you may not see.",
    "no column lineage": "column lineage ends at {count}.",
    "no schema": "nobody reports the columns of {count}.",
    "checks withheld": "only who may read all namespaces sees checks.",
    "older checks": "only the latest 500 runs were searched for checks.",
    "older contract evaluations": "contracts of {count} were not evaluated for the whole period.",
    "older commits": "versions of the code of {count}: the events of their runs have them, where the log can be read.",
    "older owners": "owners of {count}: events in the log have them, where it can be read.",
    "older runs": "only the latest 10,000 runs were searched for failures.",
}
_NAMED = 3
"""Nodes that a statement about what is not known names as text."""


def show_changes(
    command: QuestionCommand, node: str, *, since: Time, until: Time | None, limit: int, **bounds: Unpack[Bounds]
) -> Exit:
    """Print what changed upstream of a node. As text at most `limit`."""
    shown = limit if command.output is Rows.TEXT else None
    found = command.questions.changes(node, since=since, until=until, limit=shown, **bounds)
    return show(command, found, lambda style: timeline_lines(found, limit, style))


def timeline_lines(found: ChangesUpstream, limit: int, style: Style) -> Iterator[Text]:
    """The changes, the newest first, and what is not known. `limit`: how many were asked for."""
    labels = label(map(name_of, _nodes(found)), style.glyphs.more)
    period = f"  changes from {found.since} to {found.until}"
    yield Text.assemble((labels.of(name_of(found.node)), "bold"), (period, "dim"))
    for one in found.changes:
        yield _head(one, labels)
        yield from (_part_line(part, labels) for part in one.parts if part.name or part.end)
        if by := _by(one, labels):
            yield Text(f"      {by}", style="dim")
    searched = f"in {number(found.datasets, 'dataset')} and {number(found.jobs, 'job')}"
    if len(found.changes) == limit:
        yield Text(f"The newest {limit:,} changes {searched}. There may be more: --limit, --output csv", style="bold")
    else:
        yield Text(f"{number(len(found.changes), 'change')} {searched}.", style="bold")
    yield from (not_known_line(one, labels) for one in found.not_known)
    if not found.completeness.complete and found.completeness.stopped_by not in EXPLAINED:
        yield closing_line(found.completeness)


EXPLAINED = ("access", "checks", "contracts", "runs", "commits", "owners", "columns")
"""Reasons for an incomplete answer that the lines about what is not known explain."""


def _nodes(found: ChangesUpstream) -> Iterator[str]:
    yield found.node
    yield from (node for one in found.not_known for node in one.nodes)
    for one in found.changes:
        yield from (node for node in (one.node, one.job, *(part.end for part in one.parts)) if node)


def _head(one: ChangeUpstream, labels: Labels) -> Text:
    line = Text(f"{one.time[:19]}  ", style="dim").append(f"{one.kind:<11}", style="cyan")
    line.append(labels.of(name_of(one.node)), style="bold")
    line.append(f"  {describe_change(one.kind, one.change, one.node)}", style=_COLOURS.get(one.change, "yellow"))
    states = [part for part in one.parts if not part.name and not part.end]
    line.append("".join(f"  {_turn(part)}" for part in states))
    return line.append(f"  {number(one.distance, 'hop')} upstream" if one.distance else "", style="dim")


def _part_line(one: ChangedPart, labels: Labels) -> Text:
    sign, colour = SIGNS.get(one.change, ("!", _COLOURS.get(one.change, "yellow")))
    end = labels.of(name_of(one.end)) if one.end else ""
    what = f"{end} -> {safe(one.name)}" if end and one.name else f"from {end}" if end else safe(one.name or "")
    return Text.assemble((f"    {sign} ", colour), f"{what}  {_turn(one)}".rstrip())


def _turn(one: ChangedPart) -> str:
    if one.change == "renamed":
        return f"was {safe(one.before)}" if one.before else ""
    return " to ".join(safe(text) for text in (one.before, one.after) if text)


def _by(one: ChangeUpstream, labels: Labels) -> str:
    """Who brought it: the job and its run, and the producer of the event."""
    job = labels.of(name_of(one.job)) if one.job and one.job != one.node else ""
    run = f"run {safe(short_run(one.run.removeprefix('run:')))}" if one.run else ""
    producer = safe(one.event.producer) if one.event else ""
    found = ", ".join(filter(None, (job, run, producer)))
    return f"by {found}" if found else ""


def not_known_line(one: ChangesNotKnown, labels: Labels) -> Text:
    """Why changes may be missing."""
    text = _NOT_KNOWN.get(one.reason, f"{safe(one.reason)}.").format(count=number(one.total, "node"))
    named = ", ".join(labels.of(name_of(node)) for node in one.nodes[:_NAMED])
    more = ", …" if one.total > _NAMED and named else ""
    return Text.assemble(("Not known: ", "bold yellow"), text, (f"  {named}{more}" if named else "", "dim"))
