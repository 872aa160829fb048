"""Contracts of datasets as JSON."""

from typing_extensions import TypedDict

from whence.model.names import DatasetName
from whence.query.answers.instants import iso
from whence.query.lookup.contracts import ContractedDataset, ContractVersion


class AppliedVersion(TypedDict):
    """A version of a dataset's contract. It holds until the next one; an empty version ends the contract."""

    id: str
    version: str
    status: str
    standard: str
    owners: list[str]
    approved_by: list[str]
    applied_at: str


class DatasetContract(AppliedVersion):
    """The contract of a dataset, and how often its data violate it; null: that is not known. `unevaluated`: the rules
    and service levels of which it is not known whether they hold.
    """

    node: str
    violations: int | None
    unevaluated: int


class ContractViolation(TypedDict):
    """What the reported columns lack of the contract. `rule`: missing-column or type."""

    rule: str
    column: str
    expected: str
    observed: str | None


class ContractRule(TypedDict):
    """A quality rule or service level with its verdict. `outcome`: holds, violated or not evaluated, with the
    `reason`; `time` and `run`: of the report that it follows from.
    """

    rule: str
    column: str | None
    outcome: str
    expected: str | None
    observed: str | None
    reason: str | None
    time: str | None
    run: str | None


class ContractEvaluation(TypedDict):
    """What the reported columns violate; `not_evaluated`: why that is not known, null: it is. `rules`: all other rules
    of the contract.
    """

    violations: list[ContractViolation]
    not_evaluated: str | None
    rules: list[ContractRule]


class ContractText(AppliedVersion):
    """A version with its text: the file as it was applied. `table`: which of its tables this dataset is.

    The text is null if only a version was stated, or for who may not read everything.
    """

    table: str
    text: str | None


class ContractTransition(TypedDict):
    """A rule that is violated from a time on, or no longer. `rule` is `column` if the column itself is missing or has
    another type. `before` and `after`: its outcome; null: the contract did not have the rule.
    """

    time: str
    rule: str
    column: str | None
    before: str | None
    after: str | None
    expected: str | None
    observed: str | None
    run: str | None


class ContractTransitions(TypedDict):
    """When rules began and ceased to be violated, the latest first. `complete`: there are no earlier changes; else
    `known_from` is the time before which there may be: what was then was not read, or is deleted.
    """

    complete: bool
    known_from: str | None
    changes: list[ContractTransition]


class ContractHistory(TypedDict):
    """The contract of a dataset at a time, whether what was reported until then fulfils it, and all its versions,
    newest first. `transitions` is null if they were not requested.
    """

    node: str
    contract: ContractText | None
    evaluation: ContractEvaluation | None
    versions: list[AppliedVersion]
    transitions: ContractTransitions | None


def contract_document(
    name: DatasetName, one: ContractVersion, violations: int | None, unevaluated: int
) -> DatasetContract:
    """The contract of a dataset."""
    return {"node": str(name), **_applied(one), "violations": violations, "unevaluated": unevaluated}


def history_document(
    dataset: ContractedDataset,
    at: int | None,
    evaluation: ContractEvaluation | None,
    transitions: ContractTransitions | None,
) -> ContractHistory:
    """The contract of a dataset at a time (µs), or now, and its versions."""
    held = dataset.at(at)
    shown: ContractText | None = None
    if held is not None:
        shown = {**_applied(held), "table": held.table, "text": held.text or None}
    versions = [_applied(one) for one in dataset.versions]
    return {
        "node": str(dataset.name),
        "contract": shown,
        "evaluation": evaluation,
        "versions": versions,
        "transitions": transitions,
    }


def _applied(one: ContractVersion) -> AppliedVersion:
    return {
        "id": one.id,
        "version": one.version,
        "status": one.status,
        "standard": one.standard,
        "owners": list(one.owners),
        "approved_by": list(one.approved_by),
        "applied_at": iso(one.applied_at),
    }
