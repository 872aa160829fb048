"""Certification: a pure function of the rules that apply to a dataset, of what is known of it, and of a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from whence.govern.certification.facts import DeclaredObjective, Facts
from whence.govern.certification.rules import Requirements, Rule
from whence.govern.slos.evaluation.judge import Judgement
from whence.govern.slos.evaluation.judge import Outcome as Indicated
from whence.govern.slos.evaluation.judge import judge as judge_objective
from whence.govern.slos.objectives import DAY
from whence.model.names import FieldName
from whence.model.records.certification import CertificationText, RequirementText
from whence.query.answers.instants import iso


class Outcome(StrEnum):
    """Whether a requirement is met."""

    MET = "met"
    NOT_MET = "not met"
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A requirement of a rule with its outcome. `text`: what it follows from, without a name; `names`: objectives and
    checks that are not met; `columns`: those whose sources are not known.
    """

    requirement: RequirementText
    outcome: Outcome
    text: str
    names: tuple[str, ...] = ()
    columns: tuple[FieldName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRule:
    """A rule, and what it makes of a dataset."""

    rule: Rule
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificationStatus:
    """What all rules that apply make of a dataset."""

    rules: tuple[JudgedRule, ...] = ()

    @property
    def status(self) -> CertificationText:
        """Certified if every requirement of every rule is met. What is not known certifies nothing."""
        if not self.rules:
            return "no rule"
        outcomes = {one.outcome for rule in self.rules for one in rule.requirements}
        if Outcome.NOT_MET in outcomes:
            return "not certified"
        return "not evaluated" if Outcome.NOT_EVALUATED in outcomes else "certified"

    def with_outcome(self, outcome: Outcome) -> tuple[RequirementText, ...]:
        """The requirements that have an outcome in some rule, in order."""
        found = (one.requirement for rule in self.rules for one in rule.requirements if one.outcome is outcome)
        return tuple(dict.fromkeys(found))


def judge(rules: Sequence[Rule], facts: Facts, at: int) -> CertificationStatus:
    """Judge a dataset by all the rules that apply to it, at a time (µs). The order of the rules does not matter."""
    return CertificationStatus(
        rules=tuple(
            JudgedRule(rule=one, requirements=tuple(_requirements(one.requirements, facts, at)))
            for one in sorted(rules, key=lambda one: (one.name, one.namespaces))
        )
    )


def _requirements(wanted: Requirements, facts: Facts, at: int) -> Iterator[Requirement]:
    if wanted.owner:
        yield _owner(facts, at)
    if wanted.contract:
        yield _contract(facts, at)
    if wanted.lineage is not None:
        yield _lineage(facts, float(wanted.lineage))
    if wanted.objectives is not None:
        yield _objectives(facts, wanted.objectives, at)
    if wanted.checks:
        yield _checks(facts)


def _owner(facts: Facts, at: int) -> Requirement:
    if facts.owners_since > at:
        text = "its owners were stated later, and who it belonged to before is not known"
        return Requirement(requirement="owner", outcome=Outcome.NOT_EVALUATED, text=text)
    if not facts.owners:
        return Requirement(requirement="owner", outcome=Outcome.NOT_MET, text="nobody owns it")
    return Requirement(requirement="owner", outcome=Outcome.MET, text=f"owned by {', '.join(sorted(facts.owners))}")


def _contract(facts: Facts, at: int) -> Requirement:
    held = facts.contract
    if held is None:
        return Requirement(requirement="contract", outcome=Outcome.NOT_MET, text="it has no contract")
    version = f"contract version {held.version}"
    if held.last_day is not None and held.last_day.isoformat() < iso(at)[:10]:
        text = f"{version}: its last day was {held.last_day}"
        return Requirement(requirement="contract", outcome=Outcome.NOT_MET, text=text)
    if held.violations:
        text = f"{version} is violated {held.violations:,} time{'s' * (held.violations != 1)}"
        return Requirement(requirement="contract", outcome=Outcome.NOT_MET, text=text)
    if held.violations is None:
        text = f"{version}: its columns are not known"
        return Requirement(requirement="contract", outcome=Outcome.NOT_EVALUATED, text=text)
    if held.unevaluated:
        text = f"{version}: nothing decides {held.unevaluated:,} of its rules"
        return Requirement(requirement="contract", outcome=Outcome.NOT_EVALUATED, text=text)
    return Requirement(requirement="contract", outcome=Outcome.MET, text=f"{version} holds")


def _lineage(facts: Facts, least: float) -> Requirement:
    found = facts.coverage
    share, whole = found.share, len(found.explained) + len(found.unexplained)
    missing = tuple(sorted(found.unexplained, key=str))
    if share is not None and share < least:
        text = f"the sources of {float(share):.1%} of {whole:,} columns upstream are known, less than {least:.0%}"
        return Requirement(requirement="lineage", outcome=Outcome.NOT_MET, text=text, columns=missing)
    if not found.complete:
        text = "a budget of edges stopped the reading of its lineage"
        return Requirement(requirement="lineage", outcome=Outcome.NOT_EVALUATED, text=text)
    if not found.has_inputs:
        text = "nobody reports what it is made of"
        return Requirement(requirement="lineage", outcome=Outcome.NOT_MET, text=text)
    if share is None:
        text = "no column upstream is known"
        return Requirement(requirement="lineage", outcome=Outcome.NOT_EVALUATED, text=text)
    text = f"the sources of {float(share):.1%} of {whole:,} columns upstream are known"
    return Requirement(requirement="lineage", outcome=Outcome.MET, text=text, columns=missing)


def _objectives(facts: Facts, days: int, at: int) -> Requirement:
    if not facts.objectives:
        return Requirement(requirement="objectives", outcome=Outcome.NOT_MET, text="no objective is declared")
    found = [(one.name, *_objective(one, days, at)) for one in facts.objectives]
    for outcome in (Outcome.NOT_MET, Outcome.NOT_EVALUATED):
        some = sorted((name, text) for name, each, text in found if each is outcome)
        if some:
            of = f"{len(some):,} of {len(found):,} objectives" if len(found) > 1 else "its objective"
            text = f"{of}: {some[0][1]}"
            names = tuple(name for name, _ in some)
            return Requirement(requirement="objectives", outcome=outcome, text=text, names=names)
    what = "all objectives" if len(found) > 1 else "its objective"
    text = f"{what} met for {days} days"
    return Requirement(requirement="objectives", outcome=Outcome.MET, text=text)


def _objective(one: DeclaredObjective, days: int, at: int) -> tuple[Outcome, str]:
    """Whether an objective was met in the last days: what was bad is not more than its target allows."""
    if one.objective is None:
        return Outcome.NOT_EVALUATED, "this version of Whence cannot read it"
    found = judge_objective(replace(one.objective, window=days * DAY), one.facts, at)
    return _over_days(found, days)


def _over_days(found: Judgement, days: int) -> tuple[Outcome, str]:
    if found.outcome not in (Indicated.HOLDS, Indicated.VIOLATED):
        return Outcome.NOT_EVALUATED, found.reason or f"{found.outcome}"
    budget = found.budget
    if budget is not None and budget.bad > budget.allowed:
        return Outcome.NOT_MET, f"more was bad in the last {days} days than the target allows"
    if budget is None and found.outcome is Indicated.VIOLATED:
        return Outcome.NOT_MET, "it is violated"
    begin = found.at - days * DAY
    if found.known_since is None or found.known_since > begin:
        known = 0 if found.known_since is None else (found.at - found.known_since) // DAY
        return Outcome.NOT_EVALUATED, f"it is measured for {known} of {days} days"
    if budget is not None and not budget.total:
        return Outcome.NOT_EVALUATED, f"nothing was measured in the last {days} days"
    return Outcome.MET, ""


def _checks(facts: Facts) -> Requirement:
    failed = sorted({one.name for one in facts.checks if not one.held})
    if failed:
        text = f"{len(failed):,} check{'s' * (len(failed) != 1)} failed last"
        return Requirement(requirement="checks", outcome=Outcome.NOT_MET, text=text, names=tuple(failed))
    if not facts.are_all_checks:
        text = "not all results of checks were read"
        return Requirement(requirement="checks", outcome=Outcome.NOT_EVALUATED, text=text)
    if not facts.checks:
        return Requirement(requirement="checks", outcome=Outcome.NOT_MET, text="no check of it is reported")
    text = f"{len(facts.checks):,} check{'s' * (len(facts.checks) != 1)} passed last"
    return Requirement(requirement="checks", outcome=Outcome.MET, text=text)
