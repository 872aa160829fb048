"""`whence contract list`: the contracts that hold, or the versions of one."""

import sys
from collections.abc import Iterator, Sequence

import msgspec
from rich.text import Text

from whence.cli.answers.ask import Questions
from whence.cli.output.streams import Exit, Output, print_document, print_error, print_lines, safe
from whence.client.values.contracts import (
    AppliedVersion,
    ContractedDataset,
    ContractEvaluation,
    ContractHistory,
    ContractRule,
    ContractTransitions,
)
from whence.errors import WhenceError
from whence.query.answers.instants import iso

_MOST_RULES = 10
"""Rules that are not evaluated, by name in a text."""


def show_contracts(questions: Questions, output: Output) -> Exit:
    """Print the contracts of all datasets."""
    found = list(questions.contracts())
    if output is Output.JSON:
        print_document({"contracts": msgspec.to_builtins(found)})
    else:
        print_lines(map(Text, _contract_lines(found)))
    return Exit.OK


def show_contract(
    questions: Questions, dataset: str, as_of: int | None, output: Output, *, text: bool, transitions: bool
) -> Exit:
    """Print the contract of a dataset, at a time (µs) or now, and its versions; `text`: its file, and nothing else."""
    found = questions.contract(dataset, as_of=None if as_of is None else iso(as_of), transitions=transitions)
    if text:
        written = (found.contract and found.contract.text) or ""
        if not written:
            when = "" if as_of is None else f" at {iso(as_of)}"
            print_error(WhenceError(f"{found.node} has no contract with a text{when}"), output)
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
        yield f"{safe(one.node)}  {_described(one)}{_counted(one)}"
    if not found:
        yield "No dataset has a contract."


def _history_lines(found: ContractHistory) -> Iterator[str]:
    held = found.contract
    yield f"{safe(found.node)}  {'no contract' if held is None else _described(held)}"
    yield from _evaluation_lines(found.evaluation)
    for one in found.versions:
        what = f"{safe(one.id)} {safe(one.version)}" if one.version else "ended"
        yield f"  {one.applied_at}  {what}"
    yield from _transition_lines(found.transitions)


def _transition_lines(found: ContractTransitions | None) -> Iterator[str]:
    if found is None:
        return
    yield "transitions:" if found.changes else "no rule was ever violated" if found.complete else "no transitions"
    for one in found.changes:
        name = ".".join(safe(part) for part in (one.column, one.rule) if part)
        change = f"{one.before or 'not promised'} -> {one.after or 'not promised'}"
        details = ", ".join(safe(part) for part in (one.expected, one.observed) if part)
        yield f"  {one.time}  {name}: {change}{f'  ({details})' if details else ''}"
    if not found.complete:
        yield f"  before {found.known_from} there may be others: that was not read, or is deleted"


def _evaluation_lines(found: ContractEvaluation | None) -> Iterator[str]:
    if found is not None and found.not_evaluated:
        yield f"  not evaluated: {safe(found.not_evaluated)}"
    for one in found.violations if found is not None else ():
        observed = f"reported as {safe(one.observed)}" if one.observed else "not reported"
        yield f"  violation: {safe(one.column)}: {safe(one.expected)} is promised, {observed}"
    if found is not None:
        yield from _rule_lines(found.rules)


def _rule_lines(rules: Sequence[ContractRule]) -> Iterator[str]:
    yield from (f"  violation: {_rule_text(one)}" for one in rules if one.outcome == "violated")
    open_ = [one for one in rules if one.outcome == "not evaluated"]
    yield from (f"  not evaluated: {_rule_text(one)}: {safe(one.reason or '')}" for one in open_[:_MOST_RULES])
    if len(open_) > _MOST_RULES:
        yield f"  not evaluated: {len(open_) - _MOST_RULES:,} more rules (--output json)"
    if held := sum(one.outcome == "holds" for one in rules):
        yield f"  {held:,} rule{'s hold' if held != 1 else ' holds'}"


def _rule_text(one: ContractRule) -> str:
    name = ".".join(safe(part) for part in (one.column, one.rule) if part)
    evidence = f" at {one.time}" if one.time else ""
    parts = (f"{safe(one.expected)} is promised" if one.expected else "", f"{safe(one.observed or '')}{evidence}")
    return f"{name}: {', '.join(part for part in parts if part)}"


def _counted(one: ContractedDataset) -> str:
    violations, more = one.violations, f", {one.unevaluated:,} not evaluated" if one.unevaluated else ""
    if violations is None:
        return ", not evaluated"
    return (f", {violations:,} violation{'s' * (violations != 1)}" if violations else "") + more


def _described(one: AppliedVersion) -> str:
    parts = [f"{safe(one.id) or 'contract'} {safe(one.version)}", safe(one.status)]
    owners = f"of {', '.join(map(safe, one.owners))}" if one.owners else ""
    return ", ".join(part for part in (*parts, owners) if part)
