"""`whence policy evaluate`: the policies of a file against a store on this machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.policies.files import load_policies
from whence.govern.policies.evaluation import Evaluation, evaluate
from whence.govern.policies.policy import Finding, Outcome
from whence.govern.policies.reading import read_estate
from whence.model.catalog import Entry, EntryFilter, Window, entry_sort_key
from whence.model.ids import Kind
from whence.query.answers.instants import iso
from whence.query.ports.catalog import Catalog
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import open_graph

_PAGE = 5_000


def show_evaluated(file: Path, url: str, as_of: int | None, limit: int, output: Output) -> Exit:
    """Print of which nodes the policies do not hold. As text at most `limit`. Raises RulesFileError, StoreError."""
    stated = load_policies(file)
    with open_graph(url) as graph:
        datasets = [one.id for one in _datasets(StoreCatalog(graph.connection))]
        found = evaluate(stated.policies, read_estate(graph, datasets, stated.categories, as_of))
    if output is Output.JSON:
        print_document({"as_of": None if as_of is None else iso(as_of), **_document(found)})
    else:
        print_lines(_lines(found, limit))
    return _exit_of(found)


def _exit_of(found: Evaluation) -> Exit:
    match found.outcome:
        case Outcome.VIOLATED:
            return Exit.BLOCKED
        case Outcome.NOT_EVALUATED:
            return Exit.BLOCKED if found.blocks else Exit.UNKNOWN
        case Outcome.OK:
            return Exit.OK


def _datasets(catalog: Catalog) -> Iterator[Entry]:
    after = None
    while page := catalog.listed(Kind.DATASET, EntryFilter(), Window(limit=_PAGE, after=after)):
        yield from page
        after = entry_sort_key(page[-1])


def _lines(found: Evaluation, limit: int) -> Iterator[Text]:
    shown = found.findings[:limit]
    labels = label(name_of(str(node)) for one in shown for node in (one.node, *one.path))
    for one in shown:
        yield from _finding_lines(one, labels)
    if len(found.findings) > limit:
        yield Text(f"{len(found.findings) - limit:,} more: --limit", style="dim")
    if not found.complete:
        yield Text.assemble(("Not all was read: ", "bold yellow"), "a budget of edges stopped it.")
    for name in found.idle:
        yield Text(f"{safe(name)}: is about no node", style="dim")
    yield Text(", ".join(f"{count:,} {outcome}" for outcome, count in found.counts.items()))


def _finding_lines(one: Finding, labels: Labels) -> Iterator[Text]:
    style = "bold red" if one.outcome is Outcome.VIOLATED else "yellow"
    line = Text.assemble((f"{one.outcome:15}", style), labels.of(name_of(str(one.node))), f"  {safe(one.policy.name)}")
    if one.blocks and one.outcome is Outcome.NOT_EVALUATED:
        line.append("  blocks: a certified dataset is made of it", style="dim")
    yield line
    yield Text(f"    {safe(one.policy.reason)}; ask {safe(one.policy.owner)}", style="dim")
    if one.unknown:
        yield Text(f"    {safe(one.unknown)}", style="dim")
    if one.path:
        yield Text(f"    {' → '.join(labels.of(name_of(str(node))) for node in one.path)}", style="dim")


def _document(found: Evaluation) -> dict[str, Any]:
    return {
        "outcome": found.outcome.value,
        "blocks": found.blocks,
        "counts": {outcome.value: count for outcome, count in found.counts.items()},
        "hidden": found.hidden,
        "complete": found.complete,
        "idle": list(found.idle),
        "findings": [_finding(one) for one in found.findings],
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "policy": one.policy.name,
        "node": str(one.node),
        "outcome": one.outcome.value,
        "blocks": one.blocks,
        "reason": one.policy.reason,
        "owner": one.policy.owner,
        "unknown": one.unknown or None,
        "path": [str(node) for node in one.path],
        "place": one.policy.place,
    }
