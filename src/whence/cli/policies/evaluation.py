"""`whence policy evaluate`: the policies of a file against a server, or a store on this machine."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.text import Text

from whence.cli.answers.ask import Questions
from whence.cli.gate.contracts.files import read_text
from whence.cli.output.labels import Labels, label, name_of
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.values.sensitivity import PolicyEvaluation, PolicyFinding
from whence.govern.policies.policy import Outcome
from whence.govern.policies.policy_file import read_policies
from whence.query.answers.instants import iso


def show_evaluated(questions: Questions, file: Path, as_of: int | None, limit: int, output: Output) -> Exit:
    """Print of which nodes the policies do not hold. As text at most `limit`. Raises RulesFileError, ApiError."""
    text, name = read_text(file), file.as_posix()
    read_policies(text, name)  # a mistake is reported before anybody is asked
    found = questions.evaluate_policies(text, file=name, as_of=None if as_of is None else iso(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(_lines(found, limit))
    return _exit_of(found)


def _exit_of(found: PolicyEvaluation) -> Exit:
    match Outcome(found.outcome):
        case Outcome.VIOLATED:
            return Exit.BLOCKED
        case Outcome.NOT_EVALUATED:
            return Exit.BLOCKED if found.blocks else Exit.UNKNOWN
        case Outcome.OK:
            return Exit.OK


def _lines(found: PolicyEvaluation, limit: int) -> Iterator[Text]:
    shown = found.findings[:limit]
    labels = label(name_of(node) for one in shown for node in (one.node, *one.path))
    for one in shown:
        yield from _finding_lines(one, labels)
    if found.total > len(shown):
        yield Text(f"{found.total - len(shown):,} more: --limit", style="dim")
    if found.hidden:
        nodes = f"{found.hidden:,} node{'s' * (found.hidden != 1)}"
        yield Text.assemble(("Not all is known: ", "bold yellow"), f"{nodes} upstream that you may not see.")
    if not found.complete:
        yield Text.assemble(("Not all was read: ", "bold yellow"), "a budget of edges stopped it.")
    for name in found.idle:
        yield Text(f"{safe(name)}: is about no node", style="dim")
    yield Text(", ".join(f"{count:,} {outcome}" for outcome, count in found.counts.items()))


def _finding_lines(one: PolicyFinding, labels: Labels) -> Iterator[Text]:
    is_violated = one.outcome == Outcome.VIOLATED
    style = "bold red" if is_violated else "yellow"
    line = Text.assemble((f"{safe(one.outcome):15}", style), labels.of(name_of(one.node)), f"  {safe(one.policy)}")
    if one.blocks and not is_violated:
        line.append("  blocks: a certified dataset is made of it", style="dim")
    yield line
    yield Text(f"    {safe(one.reason)}; ask {safe(one.owner)}", style="dim")
    if one.unknown:
        yield Text(f"    {safe(one.unknown)}", style="dim")
    if one.path:
        yield Text(f"    {' → '.join(labels.of(name_of(node)) for node in one.path)}", style="dim")
