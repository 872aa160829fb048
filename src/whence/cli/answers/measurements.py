"""The work of `whence measurements`: the numbers that runs reported, as a table."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.tree import past_limit_text
from whence.cli.output.labels import label, name_of
from whence.cli.output.streams import Exit as ExitCode
from whence.cli.output.streams import Rows, safe
from whence.client.answers.quality import Measurements


def show_measurements(
    command: QuestionCommand, node: str, *, metrics: Sequence[str], as_of: str | None, limit: int | None
) -> ExitCode:
    """Print the measurements of a node. As text at most `limit`."""
    shown = limit if command.output is Rows.TEXT else None
    found = command.questions.measurements(node, metrics=metrics, as_of=as_of, limit=shown)
    return show(command, found, lambda _: _lines(found, limit))


def _lines(found: Measurements, limit: int | None) -> Iterator[Text]:
    labels = label(map(name_of, (node for one in found.measurements for node in (found.node, one.job) if node)))
    yield Text.assemble((labels.of(name_of(found.node)), "bold"), ("  measurements", "dim"))
    if not found.measurements:
        yield Text("Nothing was measured.")
    for one in found.measurements:
        metric = ".".join(part for part in (one.column, one.metric) if part)
        line = Text(f"{one.time[:19]}  ", style="dim").append(f"{safe(metric):<32}").append(f"{one.value:>16,}", "bold")
        line.append(f"  {one.facet or ''}", style="dim")
        yield line.append(f"  by {labels.of(name_of(one.job))}" if one.job and one.dataset else "", style="dim")
    if len(found.measurements) == limit:
        yield Text("There may be more: --limit, --output csv", style="dim")
    if notice := past_limit_text(found.completeness):
        yield notice
    elif not found.completeness.complete:
        yield Text("Only the latest 5,000 reports were read.", style="bold yellow")
