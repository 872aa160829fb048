"""`whence rerun rollback`: the newest run before data broke that can be trusted."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from whence.cli.answers.ask import style_of
from whence.cli.answers.tree import Style, number
from whence.cli.output.labels import label, name_of
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.containment import RollbackPoint, TrustedRun
from whence.client.questions import Client

SHOWN = 10
"""Newer runs that are shown as text."""


def show_rollback(questions: Client, node: str, since: str, output: Output) -> Exit:
    """Print where to roll a dataset back to."""
    found = questions.rollback(node, since=since)
    if output is Output.JSON:
        print_document(found.document())
    else:
        console = Console(highlight=False)
        print_lines(_lines(found, style_of(console)), console)
    return Exit.OK if found.point and found.checked and not found.hidden else Exit.UNKNOWN


def _lines(found: RollbackPoint, style: Style) -> Iterator[Text]:
    labels = label(map(name_of, [found.node, *(one.dataset for one in found.runs)]), style.glyphs.more)
    yield Text.assemble((labels.of(name_of(found.node)), "bold"), (f"  rollback point before {found.since}", "dim"))
    for left in found.rejected[:SHOWN]:
        yield Text(f"  not {left.run}  {left.written_at[:19]}  {safe(left.reason)}", style="dim")
    if len(found.rejected) > SHOWN:
        yield Text(f"  and {number(len(found.rejected) - SHOWN, 'more newer run')}", style="dim")
    if found.point is None:
        yield Text("No run that is known can be trusted.", style="bold yellow")
    for one in found.runs:
        yield _run_line(one, labels.of(name_of(one.dataset)))
        yield from (Text(f"      {safe(origin)}: no known run wrote it", style="dim") for origin in one.origins)
    if not found.checked:
        yield Text("Cannot know: this key may not read the results of checks.", style="yellow")
    if found.hidden:
        yield Text(f"Cannot know: {number(found.hidden, 'input')} that this key may not see.", style="yellow")


def _run_line(one: TrustedRun, dataset: str) -> Text:
    line = Text("  ").append(dataset, style="bold").append(f"  {one.run}  {one.written_at[:19]}", style="cyan")
    commit = f"commit {safe(one.commit.version)}" if one.commit and one.commit.version else "commit not reported"
    version = f"version {safe(one.version)}" if one.version else "version not reported: commit only"
    return line.append(f"  {commit}  {version}", style="dim")
