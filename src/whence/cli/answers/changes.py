"""The work of the commands for evidence and history: why, why not, history, diff, runs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import msgspec
from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.impact import closing_line
from whence.cli.answers.listing import path_lines
from whence.cli.answers.tree import Style, number
from whence.cli.output.labels import Labels, age, label, name_of, short_run
from whence.cli.output.streams import Exit, safe
from whence.client.answers.graph import Paths, WhyNot
from whence.client.answers.history import Diff, History, RunLineage
from whence.client.options import Bounds
from whence.client.values.graph import Evidence, Transformation
from whence.client.values.history import Change, Commit, ReachedRun, Version
from whence.model.names import JobName
from whence.query.answers.instants import read_iso

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIGITS = 8
"""The digits of a commit's hash that are shown."""
_WORDS = {"field": "column"}
"""Words for kinds of nodes, where they differ."""
SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow"), "renamed": ("~", "yellow")}


def show_why(command: QuestionCommand, source: str, target: str, limit: int, **bounds: Unpack[Bounds]) -> Exit:
    """Print the paths between two nodes, with all evidence."""
    found = command.questions.why(source, target, limit=limit, **bounds)
    return show(command, found, lambda style: _why_lines(found, style))


def show_why_not(command: QuestionCommand, source: str, target: str, **bounds: Unpack[Bounds]) -> Exit:
    """Print why no path leads from one node to another."""
    found = command.questions.why_not(source, target, **bounds)
    return show(command, found, lambda _: _why_not_lines(found))


def show_history(command: QuestionCommand, node: str) -> Exit:
    """Print the changes of a node."""
    found = command.questions.history(node)
    return show(command, found, lambda style: history_lines(found, style))


def show_diff(command: QuestionCommand, before: str, after: str) -> Exit:
    """Print the differences between two times or runs of one store, or between two stores."""
    found = command.questions.diff(before, after)
    return show(command, found, lambda style: diff_lines(found, style))


def show_runs(command: QuestionCommand, run: str, *, down: bool, depth: int | None, max_runs: int) -> Exit:
    """Print the runs upstream of a run, or downstream."""
    found = command.questions.runs(run, down=down, depth=depth, max_runs=max_runs)
    return show(command, found, lambda style: run_lines(found, style))


def _why_lines(found: Paths, style: Style) -> Iterator[Text]:
    yield from path_lines(found, style)
    edges = dict.fromkeys(edge for path in found.paths for step in path.steps for edge in step.edges)
    for edge in edges:
        yield Text(f"{safe(edge.source)} {style.glyphs.right} {safe(edge.target)}", style="bold")
        for one in edge.evidence:
            yield from _evidence_lines(one, style)


def _evidence_lines(one: Evidence, style: Style) -> Iterator[Text]:
    by = safe(one.last_seen.producer) or "a forgotten event"
    origin = (
        "parsed from SQL" + f" by {safe(one.reader or '')}" * bool(one.reader) if one.origin == "parsed" else one.origin
    )
    yield Text(f"  {origin}: first reported {one.first_seen.time}, last {one.last_seen.time}, by {by}")
    for run in one.runs:
        when = age(max(style.now - read_iso(run.said_at), 0))
        yield Text(f"    {safe(run.run)} {safe(run.job)} {run.state}, {when}", style="dim")


def _why_not_lines(found: WhyNot) -> Iterator[Text]:
    yield Text(f"{safe(found.source)}  ...  {safe(found.target)}", style="bold")
    if found.reason is None:
        yield Text.assemble(("Connected: ", "bold green"), safe(found.detail))
        return
    until = "" if found.until is None else f" (until {found.until})"
    yield Text.assemble((f"{found.reason}: ", "bold yellow"), safe(found.detail) + until)
    for name in found.nearest:
        yield Text(f"  {safe(name)}")


def history_lines(found: History, style: Style) -> Iterator[Text]:
    """Each version of a node's lineage and schema, the latest first, with its changes."""
    labels = _labels([one for version in found.versions for one in version.changes], style)
    said_by = label((name_of(version.said_by) for version in found.versions), style.glyphs.more)
    yield Text.assemble((safe(found.node), "bold"), ("  history", "dim"))
    for one in found.versions:
        yield _version_line(one, said_by)
        for change in one.changes:
            yield _change_line(change, labels, said_by=one.said_by)
    if not found.versions:
        yield Text("Nothing was ever reported of it.", style="yellow")
    yield closing_line(found.completeness)


def _version_line(one: Version, labels: Labels) -> Text:
    said_by = labels.of(name_of(one.said_by))
    if one.kind == "schema":
        head = f"schema of {said_by}, first reported {one.since}, last {one.until or 'now'}"
        return Text.assemble((head, "bold"), (f"  {one.size:,} column{'' if one.size == 1 else 's'}", "dim"))
    by = one.run.run if one.run else f"event {one.event.event}" if one.event else "a forgotten event"
    head = f"{one.since} to {one.until or 'now'}  {said_by} {one.aspect}"
    return Text.assemble((head, "bold"), (f"  by {safe(by)}{'' if one.confirmed else ', not confirmed'}", "dim"))


def diff_lines(found: Diff, style: Style) -> Iterator[Text]:
    """Each difference on a line, nodes before edges; then their number."""
    labels = _labels(found.changes, style)
    for one in sorted(found.changes, key=_order):
        yield _change_line(one, labels)
    if not found.changes:
        yield Text("Nothing changed.", style="bold green")
        return
    counts = Counter(_WORDS.get(one.what, one.what) for one in found.changes)
    parts = ", ".join(number(count, what) for what, count in sorted(counts.items()))
    yield Text(f"{number(len(found.changes), 'change')}: {parts}.", style="bold")


def _order(one: Change) -> tuple[bool, int, str]:
    """The sort key: nodes by name before edges, additions first."""
    return one.what == "edge", list(SIGNS).index(one.change), one.node or ""


def _labels(changes: Iterable[Change], style: Style) -> Labels:
    """The labels of nodes, and of the ends and owners of edges; columns of a schema have a name only."""
    several = [one for one in changes if one.what != "column"]
    names = (name for one in several for name in (one.node, one.source, one.target, one.owner) if name)
    return label(map(name_of, names), style.glyphs.more)


def _change_line(one: Change, labels: Labels, said_by: str = "") -> Text:
    """A change; an edge with its owner, unless that is `said_by`."""
    match one.what:
        case "edge":
            return _line(one.change, _edge_text(one, labels, said_by))
        case "column":
            types = " to ".join(safe(type_) for type_ in (one.before, one.after) if type_)
            return _line(one.change, f"{safe(one.node or '')}  {types}".rstrip())
    types = " to ".join(safe(one["type"]) for several in (one.before, one.after) for one in several)
    node = labels.of(name_of(one.node or ""))
    return _line(one.change, f"{_WORDS.get(one.what, one.what)} {node}  {types}".rstrip())


def _edge_text(one: Change, labels: Labels, said_by: str) -> str:
    source, target = name_of(one.source or ""), name_of(one.target or "")
    owner = "" if one.owner in (None, said_by) else f"  ({labels.of(name_of(one.owner))})"
    ends = f"{labels.of(source)} -> {labels.of(target)}"
    if isinstance(source, JobName) or isinstance(target, JobName):
        return f"{ends}  {'output' if isinstance(source, JobName) else 'input'}{owner}"
    before, after = _transformations_text(one.before), _transformations_text(one.after)
    was = f" (was {before})" if before and after else ""
    return f"{ends}  {after or before}{was}{owner}"


def _transformations_text(transformations: Any) -> str:
    several = msgspec.convert(transformations, tuple[Transformation, ...])
    return ", ".join(safe(" ".join(filter(None, [one.type, one.subtype, one.description]))) for one in several)


def _line(word: str, text: str) -> Text:
    sign, colour = SIGNS[word]
    return Text.assemble((f"  {sign} ", colour), text)


def run_lines(found: RunLineage, style: Style) -> Iterator[Text]:
    """Each run with its commit, and the datasets that it handed over."""
    labels = label((name_of(one.dataset) for one in found.handovers), style.glyphs.more)
    for run in found.runs:
        yield _run_line(run, style)
        pairs = [
            one for one in found.handovers if run.run == (one.writer if found.direction == "upstream" else one.reader)
        ]
        for one in pairs:
            other = one.reader if found.direction == "upstream" else one.writer
            verb = "wrote" if found.direction == "upstream" else "read"
            dataset, short = labels.of(name_of(one.dataset)), short_run(other.removeprefix("run:"))
            yield Text(f"      {verb} {dataset} {'for' if verb == 'wrote' else 'of'} run {short}", style="dim")
    for name in found.origins:
        yield Text(f"   ?  {safe(name)}: no known run wrote it before", style="yellow")
    yield closing_line(found.completeness)


def _commit_text(commit: Commit) -> str:
    """A commit, of a hash the first digits; else the address of the code."""
    version = safe(commit.version or "")
    return version[:_DIGITS] if _HASH.fullmatch(version) else version or safe(commit.url)


def _run_line(run: ReachedRun, style: Style) -> Text:
    commit = "" if run.commit is None else f"  at {_commit_text(run.commit)}"
    when = "" if run.began_at is None else f", {age(max(style.now - read_iso(run.began_at), 0))}"
    line = Text(f"{run.depth:>4}  ", style="dim").append(safe(run.job), style="bold")
    return line.append(f"  {run.run} {run.state}{when}", style="dim").append(commit, style="cyan")
