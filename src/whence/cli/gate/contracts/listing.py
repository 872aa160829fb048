"""`whence contract list`: the contracts that hold, or the versions of one."""

import sys
from collections.abc import Iterator, Sequence

import msgspec
from rich.text import Text

from whence.cli.answers.ask import Questions
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.contracts import AppliedVersion, ContractedDataset, ContractEvaluation, ContractHistory
from whence.query.answers.instants import iso


def show_contracts(questions: Questions, output: Output) -> Exit:
    """Print the contracts of all datasets."""
    found = list(questions.contracts())
    if output is Output.JSON:
        print_document({"contracts": msgspec.to_builtins(found)})
    else:
        print_lines(map(Text, _contract_lines(found)))
    return Exit.OK


def show_contract(questions: Questions, dataset: str, as_of: int | None, output: Output, *, text: bool) -> Exit:
    """Print the contract of a dataset, at a time (µs) or now, and its versions; `text`: its file, and nothing else."""
    found = questions.contract(dataset, as_of=None if as_of is None else iso(as_of))
    if text:
        written = (found.contract and found.contract.text) or ""
        sys.stdout.buffer.write(written.encode("utf-8", "surrogatepass"))
        sys.stdout.buffer.flush()
        return Exit.OK if written else Exit.MISTAKE
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(map(Text, _history_lines(found)))
    return Exit.OK


def _contract_lines(found: Sequence[ContractedDataset]) -> Iterator[str]:
    for one in found:
        yield f"{safe(one.node)}  {_described(one)}{_counted(one.violations)}"
    if not found:
        yield "No dataset has a contract."


def _history_lines(found: ContractHistory) -> Iterator[str]:
    held = found.contract
    yield f"{safe(found.node)}  {'no contract' if held is None else _described(held)}"
    yield from _evaluation_lines(found.evaluation)
    for one in found.versions:
        what = f"{safe(one.id)} {safe(one.version)}" if one.version else "ended"
        yield f"  {one.applied_at}  {what}"


def _evaluation_lines(found: ContractEvaluation | None) -> Iterator[str]:
    if found is not None and found.not_evaluated:
        yield f"  not evaluated: {safe(found.not_evaluated)}"
    for one in found.violations if found is not None else ():
        observed = f"reported as {safe(one.observed)}" if one.observed else "not reported"
        yield f"  violation: {safe(one.column)}: {safe(one.expected)} is promised, {observed}"


def _counted(violations: int | None) -> str:
    if violations is None:
        return ", not evaluated"
    return f", {violations:,} violation{'s' * (violations != 1)}" if violations else ""


def _described(one: AppliedVersion) -> str:
    parts = [f"{safe(one.id) or 'contract'} {safe(one.version)}", safe(one.status)]
    owners = f"of {', '.join(map(safe, one.owners))}" if one.owners else ""
    return ", ".join(part for part in (*parts, owners) if part)
