"""An impact as text: the counts, and the nearest nodes with their paths."""

from collections.abc import Iterator, Mapping

from rich.text import Text

from whence.cli.answers.tree import Style, number, past_limit_text
from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import safe
from whence.client.answers.graph import Impact
from whence.client.values.graph import Affected, Completeness

_WORDS = {"": "none", "field": "column"}
SHOWN = 8
"""The most owners, types and tiers to list."""


def impact_lines(found: Impact, style: Style) -> Iterator[Text]:
    """The counts, then the affected nodes by distance, then the completeness."""
    counts, nodes = found.counts, found.nodes
    jobs = () if any(node.kind == "job" for node in nodes) else found.jobs[:SHOWN]
    paths = [step for node in nodes for step in node.path] + [
        step for job in (*jobs, *found.checks[:SHOWN], *nodes) for step in (job.node, job.parent)
    ]
    labels = label((name_of(step) for step in [found.root, *paths] if step), style.glyphs.more)
    yield Text.assemble((labels.of(name_of(found.root)), "bold"), ("  impact", "dim"))
    head = f"{number(counts.nodes, 'node')}, {number(counts.jobs, 'job')} at work"
    yield Text(head if counts.nodes else "nothing depends on it")
    for title, several in (("types", counts.by_type), ("owners", counts.by_owner), ("tiers", counts.by_tier)):
        if set(several) - {""}:
            yield Text.assemble((f"{title}: ", "dim"), _counted(several))
    for node in nodes:
        way = f" {style.glyphs.right} ".join(labels.of(name_of(step)) for step in node.path[1:-1])
        line = Text(f"{node.distance:>4}  ", style="dim").append(labels.of(name_of(node.node)), style="bold")
        line.append("  indirect" if node.influence == "INDIRECT" else "", style="dim")
        line.append(f"  by {way}" if way else "", style="dim").append(_job_state(node, labels))
        yield line.append(_owners_text(node.owners), style="cyan")
    if counts.nodes > len(nodes):
        yield Text(f"      and {counts.nodes - len(nodes):,} more: --limit, --output csv", style="dim")
    for job in jobs:
        line = Text("job   ", style="dim").append(labels.of(name_of(job.node)), style="bold")
        yield line.append(_job_state(job, labels)).append(_owners_text(job.owners), style="cyan")
    if jobs and counts.jobs > len(jobs):
        yield Text(f"      and {number(counts.jobs - len(jobs), 'job')} more: --kind job", style="dim")
    if counts.checks:
        yield _checks_line(found, labels)
    yield closing_line(found.completeness)


def _checks_line(found: Impact, labels: Labels) -> Text:
    """The jobs that only check data. They are not affected."""
    names = [labels.of(name_of(one.node)) for one in found.checks[:SHOWN]]
    rest = found.counts.checks - len(names)
    head = f"{number(found.counts.checks, 'job')} only check{'s' if found.counts.checks == 1 else ''} data: "
    return Text.assemble((head, "dim"), ", ".join(names) + (f" and {rest:,} more: --output json" if rest else ""))


def _job_state(one: Affected, labels: Labels) -> Text:
    """What a job belongs to, and how its last run ended."""
    within = f"  in {labels.of(name_of(one.parent))}" if one.parent else ""
    run = one.last_run
    ended = f"  {run.state} {run.state_at[:16]}" if run else ""
    return Text(within, style="dim").append(ended, style="red" if run and run.state in ("FAIL", "ABORT") else "dim")


def closing_line(completeness: Completeness) -> Text:
    """The completeness of an answer, with the reason if it is incomplete."""
    if limit := past_limit_text(completeness):
        return limit
    if completeness.complete:
        return Text("Complete.", style="bold green")
    if completeness.stopped_by == "columns":
        text = "some jobs do not report which columns they read and write. More may depend on it."
        return Text.assemble(("Not complete: ", "bold yellow"), text)
    why = {"depth": "at the depth asked for", "nodes": "by --max-nodes", "edges": "by --max-edges"}
    stopped = why.get(completeness.stopped_by or "", f"by the budget of {completeness.stopped_by}")
    return Text.assemble((f"Stopped {stopped}: ", "bold yellow"), "there is more.")


def _counted(several: Mapping[str, int]) -> str:
    named = [f"{safe(_WORDS.get(name, name))} ({count:,})" for name, count in several.items()]
    rest = len(named) - SHOWN
    return ", ".join(named[:SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")


def _owners_text(owners: tuple[str, ...]) -> str:
    return f"  {', '.join(safe(owner) for owner in owners)}" if owners else ""
