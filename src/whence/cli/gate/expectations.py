"""`whence expect`: whether the graph has the dependencies that a file states."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.answers.ask import Questions
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import AmbiguousNodeError, ArtifactError, NodeNotFoundError
from whence.govern.gate.expectations import Expectation, read_expectations

_NO_BUDGET = (None, "depth", "columns", "paths")
"""What leaves no doubt that a path which was not found is not there."""


class Outcome(StrEnum):
    """What became of an expectation."""

    HOLDS = "holds"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An expectation, its outcome, and why."""

    expectation: Expectation
    outcome: Outcome
    reason: str = ""


def show_expectations(file: Path, questions: Questions, output: Output) -> Exit:
    """Check every dependency of a file. Raises RulesFileError, ArtifactError, and what `questions` raises."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(str(file), f"it cannot be read: {error}") from None
    found = [check(one, questions) for one in read_expectations(text, str(file))]
    if output is Output.JSON:
        print_document({"dependencies": [_document(one) for one in found]})
    else:
        print_lines(_lines(found))
    return _exit(found)


def check(one: Expectation, questions: Questions) -> Checked:
    """Whether a dependency is in the graph."""
    try:
        answer = questions.paths(one.source, one.target, limit=1, types="direct" if one.by_value else "both")
    except (NodeNotFoundError, AmbiguousNodeError) as error:
        return Checked(expectation=one, outcome=Outcome.MISSING, reason=str(error).partition(";")[0])
    if answer.paths:
        return Checked(expectation=one, outcome=Outcome.HOLDS)
    stopped_by = answer.completeness.stopped_by
    if stopped_by not in _NO_BUDGET:
        return Checked(expectation=one, outcome=Outcome.UNKNOWN, reason=f"a budget of {stopped_by} stopped the search")
    return Checked(expectation=one, outcome=Outcome.MISSING, reason="no path leads there")


def _exit(found: Sequence[Checked]) -> Exit:
    outcomes = {one.outcome for one in found}
    if Outcome.MISSING in outcomes:
        return Exit.BLOCKED
    return Exit.UNKNOWN if Outcome.UNKNOWN in outcomes else Exit.OK


def _lines(found: Sequence[Checked]) -> Iterator[Text]:
    for one in found:
        ends = f"{safe(one.expectation.source)} -> {safe(one.expectation.target)}"
        reason = f": {safe(one.reason)}" if one.reason else ""
        yield Text(f"{one.outcome}  {ends}{reason}  ({safe(one.expectation.place)})")
    held = sum(one.outcome is Outcome.HOLDS for one in found)
    yield Text(f"{held:,} of {len(found):,} dependencies hold")


def _document(one: Checked) -> dict[str, Any]:
    expectation = one.expectation
    return {
        "from": expectation.source,
        "to": expectation.target,
        "by_value": expectation.by_value,
        "place": expectation.place,
        "outcome": one.outcome.value,
        "reason": one.reason or None,
    }
