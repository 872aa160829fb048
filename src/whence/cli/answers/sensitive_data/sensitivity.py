"""The work of `whence sensitivity`: labels with their ways, as text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Unpack

from rich.text import Text

from whence.cli.answers.ask import QuestionCommand, show
from whence.cli.answers.tree import Style, number, past_limit_text
from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit as ExitCode
from whence.cli.output.streams import Rows, safe
from whence.client.answers.sensitivity import Sensitivity
from whence.client.values.graph import Completeness
from whence.client.values.sensitivity import SensitivityLabel, SensitivityOptions

_STYLES = {"full": "bold red", "pseudonymous": "yellow", "partial": "yellow"}
_WIDTH = len("pseudonymous") + 2
_GAPS = 3
"""The most jobs without columns to name."""


def show_sensitivity(
    command: QuestionCommand, node: str, limit: int, **options: Unpack[SensitivityOptions]
) -> ExitCode:
    """Print the sensitivity labels of a node, or those that its data gives to others. As text at most `limit`."""
    shown = limit if command.output is Rows.TEXT else None
    found = command.questions.sensitivity(node, limit=shown, **options)
    return show(command, found, lambda style: _lines(found, style, limit))


def _lines(found: Sensitivity, style: Style, limit: int) -> Iterator[Text]:
    nodes = {found.node, *found.gaps, *(node for one in found.labels for node in one.path)}
    labels = label(map(name_of, nodes))
    title = "sensitive data in it" if found.direction == "upstream" else "where its data goes"
    yield Text.assemble((labels.of(name_of(found.node)), "bold"), (f"  {title}", "dim"))
    for one in found.labels:
        yield _head(one, labels)
        yield Text(f"    {f' {style.glyphs.right} '.join(labels.of(name_of(node)) for node in one.path)}", style="dim")
    yield from _closing(found, labels, limit)


def _head(one: SensitivityLabel, labels: Labels) -> Text:
    line = Text.assemble(grade_text(one.grade), labels.of(name_of(one.node)))
    line.append(f"  {safe(one.category)}", style="cyan")
    if one.assumed:
        proven = "nothing" if one.proven == "none" else one.proven
        line.append(f"  assumed; proven: {proven}", style="dim")
    return line


def grade_text(grade: str) -> Text:
    """A grade, as wide as the longest."""
    return Text(f"{grade:{_WIDTH}}", style=_STYLES.get(grade, "dim"))


def _closing(found: Sensitivity, labels: Labels, limit: int) -> Iterator[Text]:
    total = sum(found.counts.values())
    if not found.sources:
        yield Text("No column is tagged as sensitive: tag columns (pii, phi, financial …), or say which with --tag.")
    elif not total:
        yield Text("No sensitive data is known.")
    elif len(found.labels) < total:
        yield Text(f"{number(total, 'label')}: {_counted(found.counts)}. {_more(found, limit)}", style="dim")
    if at := found.completeness.as_of:
        yield Text(f"As of {safe(at)}.", style="dim")
    yield from unknown_lines(found.completeness, found.gaps, labels)


def unknown_lines(known: Completeness, gaps: Sequence[str], labels: Labels) -> Iterator[Text]:
    """What an answer about sensitive data does not know. `gaps`: the owners that reported no columns."""
    if known.stopped_by == "nodes":
        yield Text.assemble(("Stopped by --max-nodes: ", "bold yellow"), "there may be more.")
    if known.hidden_nodes:
        hidden = number(known.hidden_nodes, "node")
        yield Text.assemble(
            ("Not all is known: ", "bold yellow"), f"{hidden} that you may not see: no tag of them counts."
        )
    if gaps:
        named = [labels.of(name_of(one)) for one in gaps]
        rest = f" and {len(named) - _GAPS:,} more" if len(named) > _GAPS else ""
        listed = ", ".join(named[:_GAPS])
        yield Text.assemble(("Columns not known: ", "bold yellow"), f"not all are reported by {listed}{rest}.")
    if notice := past_limit_text(known):
        yield notice


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {grade}" for grade, count in counts.items())


def _more(found: Sensitivity, limit: int) -> str:
    return "All: --limit, --output csv" if len(found.labels) == limit else "All: --at-least influenced"
