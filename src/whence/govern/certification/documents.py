"""Certification as JSON: for the API and the command line alike."""

from typing_extensions import TypedDict

from whence.govern.certification.current import CertifiedDataset
from whence.govern.certification.judge import JudgedRule, Requirement
from whence.govern.certification.rules import Rule
from whence.govern.declared_rules import DeclaredRule
from whence.query.answers.instants import iso


class CertificationRequirement(TypedDict):
    """A requirement with its outcome (`met`, `not met` or `not evaluated`), and what that follows from. `names`: the
    objectives or checks, and `columns`: the columns, for which it is not met.
    """

    requirement: str
    outcome: str
    text: str
    names: list[str]
    columns: list[str]


class CertificationRule(TypedDict):
    """What a rule makes of a dataset. `owner`: whom to ask about the rule."""

    rule: str
    reason: str | None
    owner: str | None
    requirements: list[CertificationRequirement]


class Certification(TypedDict):
    """The certification of a dataset: `certified`, `not certified`, `not evaluated`, or `no rule`. `tagged`: somebody
    tagged it `certified` by hand; `canonical`: it is tagged as the one to prefer.
    """

    node: str
    status: str
    tagged: bool
    canonical: bool
    rules: list[CertificationRule]


class CertificationList(TypedDict):
    """The certification of datasets at a time."""

    at: str
    datasets: list[Certification]


class CertificationRuleRow(TypedDict):
    """A rule that holds in a namespace, as it was declared. `text`: as JSON of the form of `certification.yaml`."""

    namespace: str
    name: str
    version: str
    text: str
    declared_at: str
    declared_by: str


MOST_NAMED = 100
"""Columns, and names, in a requirement."""


def certification_document(one: CertifiedDataset, *, is_whole: bool) -> Certification:
    """The certification of a dataset. Who does not see everything gets no names of columns and checks: these may be
    hidden.
    """
    return {
        "node": str(one.name),
        "status": one.found.status,
        "tagged": one.is_tagged,
        "canonical": one.is_canonical,
        "rules": [_rule(rule, is_whole=is_whole) for rule in one.found.rules],
    }


def _rule(one: JudgedRule, *, is_whole: bool) -> CertificationRule:
    return {
        "rule": one.rule.name,
        "reason": one.rule.reason or None,
        "owner": one.rule.owner or None,
        "requirements": [_requirement(each, is_whole=is_whole) for each in one.requirements],
    }


def _requirement(one: Requirement, *, is_whole: bool) -> CertificationRequirement:
    return {
        "requirement": one.requirement,
        "outcome": one.outcome.value,
        "text": one.text,
        "names": list(one.names[:MOST_NAMED]) if is_whole else [],
        "columns": [str(column) for column in one.columns[:MOST_NAMED]] if is_whole else [],
    }


def rule_row(one: DeclaredRule[Rule]) -> CertificationRuleRow:
    """A declared rule."""
    return {
        "namespace": one.namespace,
        "name": one.record.name,
        "version": one.version,
        "text": one.record.text,
        "declared_at": iso(one.time),
        "declared_by": one.producer,
    }
