"""Data contracts in answers: values."""

from typing import Any

import msgspec


class AppliedVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a dataset's contract. It holds until the next one; an empty version ends the contract."""

    id: str
    version: str
    status: str
    standard: str
    owners: tuple[str, ...]
    approved_by: tuple[str, ...]
    applied_at: str


class ContractedDataset(AppliedVersion, frozen=True, kw_only=True):
    """The contract of a dataset, and how often its data violate it; None: that is not known. `unevaluated`: the rules
    and service levels of which it is not known whether they hold.
    """

    node: str
    violations: int | None = None
    unevaluated: int = 0


class ContractViolation(msgspec.Struct, frozen=True, kw_only=True):
    """What the reported columns lack of a contract. `rule`: missing-column or type."""

    rule: str
    column: str
    expected: str
    observed: str | None


class ContractRule(msgspec.Struct, frozen=True, kw_only=True):
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


class ContractEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """What the reported columns violate; `not_evaluated`: why that is not known, None: it is. `rules`: all other rules
    of the contract.
    """

    violations: tuple[ContractViolation, ...]
    not_evaluated: str | None
    rules: tuple[ContractRule, ...] = ()


class ContractTransition(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is violated from a time on, or no longer. `rule` is `column` if the column itself is missing or has
    another type. `before` and `after`: its outcome; None: the contract did not have the rule.
    """

    time: str
    rule: str
    column: str | None
    before: str | None
    after: str | None
    expected: str | None
    observed: str | None
    run: str | None


class ContractTransitions(msgspec.Struct, frozen=True, kw_only=True):
    """When rules began and ceased to be violated, the latest first. `complete`: there are no earlier changes; else
    `known_from` is the time before which there may be: what was then was not read, or is deleted.
    """

    complete: bool
    known_from: str | None = None
    changes: tuple[ContractTransition, ...]


class ContractText(AppliedVersion, frozen=True, kw_only=True):
    """A version with its text: the file as it was applied, or None. `table`: which of its tables a dataset is."""

    table: str
    text: str | None


class ContractHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The contract of a dataset at a time, its violations, and all its versions, newest first."""

    node: str
    contract: ContractText | None
    evaluation: ContractEvaluation | None = None
    versions: tuple[AppliedVersion, ...]
    transitions: ContractTransitions | None = None


class ContractPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some contracts, and where the next ones are."""

    data: tuple[ContractedDataset, ...]
    page: dict[str, Any] | None


class ContractAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The contract of one dataset."""

    data: ContractHistory
