"""Changes of contracts in a head, for the gate: what a review of each found, as reasons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whence.govern.contracts.check import Checked
from whence.govern.contracts.contract import Contract
from whence.govern.contracts.review import Class, Review, ReviewedChange
from whence.govern.contracts.review_reports import change_text
from whence.govern.contracts.versions import Step, step_between
from whence.govern.gate.judgement import Reason
from whence.govern.gate.policy import Verdict
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.ids import digest_of
from whence.model.names import DatasetName, FieldName, Node

_SHOWN = 5
_NAMELESS = "contract"
"""The namespace of a contract that names no dataset; its name is the path of its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractCase:
    """A changed contract, and why it has its verdict. `announced`: the datasets whose contract it breaks as it should:
    with a new major version and a migration note.
    """

    change: ColumnChange
    reasons: tuple[Reason, ...]
    announced: frozenset[DatasetName] = frozenset()


def case_of_review(review: Review) -> ContractCase:
    """A contract that has another version, or other promises, than at the merge base."""
    new = review.new
    reasons = tuple(sorted(_reasons(review), key=lambda one: -one.verdict))
    is_major = step_between(review.old.version, new.version) is Step.MAJOR
    ready = is_major and not any(one.verdict is Verdict.BLOCKED for one in reasons)
    subject = new if new.tables else review.old
    return ContractCase(
        change=replace(
            _change(subject, subject.file, review.old.version, new.version),
            reason=_few([change_text(one) for one in review.changes if one.verdict > Verdict.NOTE]),
            content=digest_of(part for one in review.changes for part in (one.class_, change_text(one))),
        ),
        reasons=reasons,
        announced=frozenset(dataset for _, dataset in new.datasets()) if ready else frozenset(),
    )


def case_of_new(contract: Contract) -> ContractCase:
    """A contract that is not at the merge base. It needs an owner; dbt demands none of its own."""
    change = _change(contract, contract.file, "", contract.version)
    if contract.owners or contract.is_of_dbt:
        return ContractCase(change=change, reasons=(Reason("contract", "a new contract", Verdict.NOTE),))
    text = "a contract without an owner promises nothing; name one in its team"
    return ContractCase(change=change, reasons=(Reason("contract-owner", text, Verdict.BLOCKED),))


def case_of_removed(contract: Contract) -> ContractCase:
    """A contract that is gone. Only a retired one may go: its readers were asked then."""
    is_retired = contract.status == "retired"
    text = "a retired contract is removed" if is_retired else "a contract is removed; let its status be retired first"
    verdict = Verdict.NOTE if is_retired else Verdict.BLOCKED
    change = _change(contract, contract.file, contract.version, "")
    return ContractCase(change=change, reasons=(Reason("contract", text, verdict, (change.dataset,)),))


def case_of_mistakes(checked: Checked) -> ContractCase:
    """A file that is no valid contract."""
    first = checked.problems[0]
    change = ColumnChange(
        dataset=DatasetName(_NAMELESS, checked.file),
        column=None,
        kind=ChangeKind.CONTRACT,
        file=checked.file,
        line=first.line,
        content=digest_of(part for one in checked.problems for part in (one.rule, one.text)),
    )
    text = "it is no valid contract: `whence contract check` shows why"
    return ContractCase(change=change, reasons=(Reason("contract-file", text, Verdict.BLOCKED),))


def _change(contract: Contract, file: str, before: str, after: str) -> ColumnChange:
    dataset = next((dataset for _, dataset in contract.datasets()), DatasetName(_NAMELESS, file))
    line = contract.lines.get("version", 1)
    return ColumnChange(
        dataset=dataset, column=None, kind=ChangeKind.CONTRACT, before=before, after=after, file=file, line=line
    )


def _few(texts: Sequence[str]) -> str:
    more = f"; and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return "; ".join(texts[:_SHOWN]) + more


def _reasons(review: Review) -> Iterator[Reason]:
    yield from _version_reasons(review)
    for one in review.changes:
        more = "; ".join(part for part in (one.reason, _objectives_text(one)) if part)
        text = f"{one.class_}: {one.change.kind}{f'; {more}' if more else ''}"
        yield Reason("contract", text, one.verdict, tuple(_nodes(one)), one.approvers)


def _objectives_text(one: ReviewedChange) -> str:
    """What the objectives demand. Their names are foreign text; their datasets are the reason's nodes."""
    demands = list(dict.fromkeys(some.objective.text for some in one.stricter))
    stated = f"objectives of consumers are stricter: {_few(demands)}" if demands else ""
    unknown = "there may be stricter objectives of consumers" if one.objectives_unknown and not demands else ""
    return stated or unknown


def _version_reasons(review: Review) -> Iterator[Reason]:
    if review.new.is_of_dbt:
        yield from (Reason("contract-version", one, Verdict.BLOCKED) for one in review.missing)
        return
    taken = step_between(review.old.version, review.new.version)
    if taken is None:
        text = "the version does not follow the one before: MAJOR.MINOR.PATCH, and never back"
        yield Reason("contract-version", text, Verdict.BLOCKED)
    elif taken < review.step:
        yield Reason("contract-version", f"{review.step.text} is needed", Verdict.BLOCKED)
    if review.missing and any(one.class_ is Class.BREAKING for one in review.changes) and not review.has_note:
        text = "a migration note with a heading for the new version is needed"
        yield Reason("contract-note", text, Verdict.BLOCKED)


def _nodes(one: ReviewedChange) -> Iterator[Node]:
    for dataset in one.change.datasets:
        yield FieldName(dataset, one.change.column) if one.change.column else dataset
    yield from dict.fromkeys(some.objective.dataset for some in one.stricter)
