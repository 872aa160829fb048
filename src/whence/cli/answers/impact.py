"""An impact as text: the counts, and the nearest nodes with their paths."""

from collections.abc import Iterator, Mapping

from rich.text import Text

from whence.cli.answers.tree import Style, number, past_limit_text
from whence.cli.output.labels import label, name_of
from whence.cli.output.streams import safe
from whence.client.answers import Impact
from whence.client.values import Completeness

SHOWN = 8
"""The most owners, types and tiers to list."""


def impact_lines(found: Impact, style: Style) -> Iterator[Text]:
    """The counts, then the affected nodes by distance, then the completeness."""
    counts, nodes = found.counts, found.nodes
    labels = label(map(name_of, [found.root, *(step for node in nodes for step in node.path)]), style.glyphs.more)
    yield Text.assemble((labels.of(name_of(found.root)), "bold"), ("  impact", "dim"))
    head = f"{number(counts.nodes, 'node')}, {number(counts.jobs, 'job')} at work"
    yield Text(f"{head}: {_counted(counts.by_type)}" if counts.nodes else "nothing depends on it")
    for title, several in (("owners", counts.by_owner), ("tiers", counts.by_tier)):
        if set(several) - {""}:
            yield Text.assemble((f"{title}: ", "dim"), _counted(several))
    for node in nodes:
        way = f" {style.glyphs.right} ".join(labels.of(name_of(step)) for step in node.path[1:-1])
        line = Text(f"{node.distance:>4}  ", style="dim").append(labels.of(name_of(node.node)), style="bold")
        yield line.append(f"  by {way}" if way else "", style="dim").append(_whose(node.owners), style="cyan")
    if counts.nodes > len(nodes):
        yield Text(f"      and {counts.nodes - len(nodes):,} more: --limit, --output csv", style="dim")
    yield closing_line(found.completeness)


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
    named = [f"{count:,} {safe(name) if name else 'of none'}" for name, count in several.items()]
    rest = len(named) - SHOWN
    return ", ".join(named[:SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")


def _whose(owners: tuple[str, ...]) -> str:
    return f"  {', '.join(safe(owner) for owner in owners)}" if owners else ""
