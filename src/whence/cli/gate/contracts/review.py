"""`whence contract diff`: two versions of a contract, or of a file of dbt, and their real readers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.text import Text

from whence.cli.answers.ask import Questions
from whence.cli.gate.contracts.consumers import ProductionConsumers
from whence.cli.gate.contracts.dbt_project import datasets_of_models, find_package, with_datasets
from whence.cli.gate.contracts.files import read_text
from whence.cli.gate.forms import exit_of
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import ArtifactError, RulesFileError
from whence.govern.contracts.consumers import Objectives
from whence.govern.contracts.contract import Contract
from whence.govern.contracts.files import read_file
from whence.govern.contracts.review import UNREAD, Review, review_contract
from whence.govern.contracts.review_reports import review_document, review_lines
from whence.govern.gate.policy import Verdict

_DAY = 86_400_000_000
_NOTE = "MIGRATION.md"
_UNASKED = Objectives(unknown=UNREAD.unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How contracts name datasets: the namespace of tables without a server, and the environment of the servers."""

    namespace: str = ""
    environment: str = ""


def load_contract(path: Path, naming: Naming) -> Contract:
    """The contract in a file. Raises ArtifactError if it cannot be read, or is one of dbt; RulesFileError with its
    first mistake.
    """
    contracts = load_contracts(path, naming)
    if len(contracts) != 1 or contracts[0].is_of_dbt:
        raise ArtifactError(str(path), "it is a file of dbt; `whence capture dbt` records its contracts")
    return contracts[0]


def load_contracts(path: Path, naming: Naming, package: str = "") -> tuple[Contract, ...]:
    """The contract in a file, or those of dbt's models. Raises ArtifactError, and RulesFileError with the first
    mistake.
    """
    text = read_text(path)
    contracts, checked = read_file(
        text, path.as_posix(), namespace=naming.namespace, environment=naming.environment, package=package
    )
    if checked.problems:
        first = checked.problems[0]
        more = f" (and {len(checked.problems) - 1:,} more: `whence contract check`)" if checked.problems[1:] else ""
        raise RulesFileError(f"{first.file}:{first.line}", f"{first.text}{more}")
    return contracts


def show_review(old: Path, new: Path, naming: Naming, questions: Questions | None, days: int, output: Output) -> Exit:
    """Review the newer version, and print it. `questions`: whom to ask for readers; None: nobody, any may exist."""
    package = find_package((new, old))
    before, after = (load_contracts(one, naming, package) for one in (old, new))
    if any(one.is_of_dbt for one in (*before, *after)) or not before or not after:
        return _show_models(review_models(before, after, questions, days), output)
    return _show_one(before[0], after[0], questions, days, output)


def _show_one(before: Contract, after: Contract, questions: Questions | None, days: int, output: Output) -> Exit:
    if before.id != after.id:
        raise ArtifactError(after.file, f"it is another contract: {after.id!r}, not {before.id!r}")
    review = review_versions(before, after, questions, days, note=read_note(after))
    if output is Output.JSON:
        print_document(review_document(review))
    else:
        print_lines(Text(safe(line)) for line in review_lines(review))
    return exit_of(review.verdict)


def _show_models(reviews: Sequence[Review], output: Output) -> Exit:
    verdict = max((one.verdict for one in reviews), default=Verdict.PASS)
    if output is Output.JSON:
        print_document({"verdict": verdict.text, "contracts": [review_document(one) for one in reviews]})
    else:
        print_lines(Text(safe(line)) for one in reviews for line in review_lines(one))
        if not reviews:
            print_lines([Text("no contract of a model changed")])
    return exit_of(verdict)


def review_models(
    old: Sequence[Contract], new: Sequence[Contract], questions: Questions | None, days: int
) -> tuple[Review, ...]:
    """Review the contracts of dbt's models that differ. New ones break nobody. Raises what `questions` raises."""
    before, after = ({one.id: one for one in some} for some in (old, new))
    changed = [id_ for id_, one in before.items() if id_ not in after or after[id_].text != one.text]
    if not changed:
        return ()
    datasets = {} if questions is None else datasets_of_models(questions)
    found = []
    for id_ in changed:
        one = with_datasets(before[id_], datasets)
        other = with_datasets(after[id_], datasets) if id_ in after else replace(one, tables=())
        found.append(review_versions(one, other, questions, days, note=None))
    return tuple(found)


def review_versions(
    old: Contract, new: Contract, questions: Questions | None, days: int, *, note: str | None
) -> Review:
    """Review a newer version of a contract, with its migration note. Raises what `questions` raises."""
    now = time.time_ns() // 1_000
    if questions is None:
        return review_contract(old, new, lambda _: UNREAD, lambda _: _UNASKED, note=note, now=now)
    consumers = ProductionConsumers(
        questions=questions,
        datasets=tuple(dict.fromkeys(dataset for one in (old, new) for _, dataset in one.datasets())),
        since=now - days * _DAY,
    )
    return review_contract(old, new, consumers.readers_of, consumers.objectives_of, note=note, now=now)


def read_note(contract: Contract) -> str | None:
    """The migration note of a contract in a file: beside it, or where it says; None if there is none."""
    path = Path(contract.file).parent / (contract.migration_note or _NOTE)
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
