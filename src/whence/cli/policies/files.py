"""Files of policies, and the reports of `whence policy check` and `whence policy test`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.gate.contracts.files import read_text
from whence.cli.output.mistakes import print_mistakes
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import RulesFileError
from whence.govern.policies.evaluation import failed_examples
from whence.govern.policies.policy import Policy, PolicyFile
from whence.govern.policies.policy_file import read_policies


def load_policies(file: Path) -> PolicyFile:
    """Read a file of policies. Raises RulesFileError with file and line, ArtifactError."""
    return read_policies(read_text(file), file.as_posix())


def show_checked(file: Path, output: Output) -> Exit:
    """Check a file, and print its policies, or its mistakes. Raises ArtifactError."""
    return _reported(file, output, _show_valid)


def show_tested(file: Path, output: Output) -> Exit:
    """Judge the examples of a file, and print those that come out otherwise. Raises ArtifactError."""
    return _reported(file, output, _show_tested)


def _reported(file: Path, output: Output, show: Callable[[PolicyFile, Output], Exit]) -> Exit:
    text = read_text(file)
    try:
        found = read_policies(text, file.as_posix())
    except RulesFileError as error:
        return print_mistakes(error, output, {"policies": []})
    return show(found, output)


def _show_valid(found: PolicyFile, output: Output) -> Exit:
    if output is Output.JSON:
        print_document({"valid": True, "mistakes": [], "policies": [_document(one) for one in found.policies]})
        return Exit.OK
    count = len(found.policies)
    print_lines(Text(f"{safe(one.name)}  owner {safe(one.owner)}: {safe(one.reason)}") for one in found.policies)
    print_lines([Text(f"{_counted(count, 'policy', 'policies')}, valid")])
    return Exit.OK


def _document(one: Policy) -> dict[str, Any]:
    return {
        "name": one.name,
        "owner": one.owner,
        "reason": one.reason,
        "examples": len(one.examples),
        "place": one.place,
    }


def _show_tested(found: PolicyFile, output: Output) -> Exit:
    failed = [
        {
            "policy": policy.name,
            "place": example.place,
            "expected": policy.outcome_word(example.outcome),
            "found": policy.outcome_word(outcome),
        }
        for policy in found.policies
        for example, outcome in failed_examples(policy)
    ]
    untested = [policy.name for policy in found.policies if not policy.examples]
    count = sum(len(policy.examples) for policy in found.policies)
    if output is Output.JSON:
        print_document({"examples": count, "failed": failed, "untested": untested})
    else:
        print_lines(Text(line) for line in _test_lines(failed, untested, count))
    return Exit.BLOCKED if failed else Exit.OK


def _test_lines(failed: list[dict[str, str]], untested: list[str], count: int) -> Iterator[str]:
    for one in failed:
        yield safe(f"{one['place']}: {one['policy']}: {one['found']}, expected {one['expected']}")
    for name in untested:
        yield f"{safe(name)}: no examples"
    yield f"{_counted(count, 'example', 'examples')}, {len(failed):,} failed"


def _counted(count: int, noun: str, plural: str) -> str:
    return f"{count:,} {noun if count == 1 else plural}"
