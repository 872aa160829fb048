"""`whence report twins`: datasets that say the same, and who reads the wrong one."""

from collections.abc import Iterator

import msgspec
from rich.text import Text

from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit, Output, print_document, print_lines
from whence.client.acts.twins import TwinGroup, TwinsReport
from whence.client.questions import Client


def show_twins(questions: Client, as_of: str | None, output: Output) -> Exit:
    """Print groups of twins."""
    found = questions.twins(as_of=as_of)
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(_lines(found))
    return Exit.OK


def _lines(found: TwinsReport) -> Iterator[Text]:
    names = [node for group in found.groups for node in (*group.datasets, *(one.reader for one in group.readers))]
    labels = label(name_of(node) for node in names)
    for group in found.groups:
        yield from _group(group, labels)
    if not found.complete:
        yield Text.assemble(("Not all was read: ", "bold yellow"), "a budget of edges stopped it.")
    count = len(found.groups)
    yield Text(f"{count:,} group{'s' * (count != 1)} of datasets from the same sources by the same formulas")


def _group(group: TwinGroup, labels: Labels) -> Iterator[Text]:
    sources = len(group.sources) + group.hidden_sources
    yield Text(f"{group.columns:,} columns from {sources:,} columns, in {len(group.datasets):,} datasets", style="bold")
    for node in group.datasets:
        yield Text(f"  {labels.of(name_of(node))}{'  (preferred)' if node in group.preferred else ''}")
    for one in group.readers:
        line = f"    {labels.of(name_of(one.reader))} reads {labels.of(name_of(one.twin))}, which is not preferred"
        yield Text(line, style="yellow")
