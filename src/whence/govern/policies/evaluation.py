"""Evaluating policies: a pure function of the policies and the estate."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from whence.govern.policies.conditions import Truth, every, holds, inverse, some, witness
from whence.govern.policies.estate import Estate, Subject
from whence.govern.policies.policy import Example, Finding, Outcome, Policy
from whence.model.access import ReadingRestriction
from whence.model.names import FieldName, Node

_ASSUMED = "a step on the way was not read, so the grade is only assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the policies say. `findings`: of every node of which one does not hold, or may not; violations first.

    `counts`: how many nodes there are with each outcome, over all policies that are about them. `hidden`: nodes that
    were not judged, because the viewer may not see them. `complete`: whether no budget cut the reading of the graph.
    `idle`: the policies that are about no node, as with a misspelt namespace. `restrictions`: the columns that policies
    hide from readers.
    """

    findings: tuple[Finding, ...]
    counts: Mapping[Outcome, int]
    hidden: int
    complete: bool
    idle: tuple[str, ...] = ()
    restrictions: tuple[ReadingRestriction, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst of all: violations, then what is not evaluated."""
        if self.counts[Outcome.VIOLATED]:
            return Outcome.VIOLATED
        is_open = self.counts[Outcome.NOT_EVALUATED] or self.hidden or not self.complete
        return Outcome.NOT_EVALUATED if is_open else Outcome.OK

    @property
    def blocks(self) -> bool:
        """Whether a finding blocks."""
        return any(one.blocks for one in self.findings)


def merge_evaluations(several: Sequence[Evaluation]) -> Evaluation:
    """What some policies and others say of the same graph."""
    findings = [one for each in several for one in each.findings]
    counts = sum((Counter(one.counts) for one in several), Counter[Outcome]())
    return Evaluation(
        findings=tuple(sorted(findings, key=_order)),
        counts={outcome: counts[outcome] for outcome in Outcome},
        hidden=max((one.hidden for one in several), default=0),
        complete=all(one.complete for one in several),
        idle=tuple(name for one in several for name in one.idle),
        restrictions=tuple(each for one in several for each in one.restrictions),
    )


def evaluate(policies: Sequence[Policy], estate: Estate, only: frozenset[Node] | None = None) -> Evaluation:
    """Judge every node by every policy that is about its namespace; or only some nodes."""
    certified = estate.certified_paths()
    applying = cache(lambda namespace: [one for one in policies if one.is_about(namespace)])
    counts: Counter[Outcome] = Counter(dict.fromkeys(Outcome, 0))
    findings, fitting, hidden = [], set[str](), dict[int, set[FieldName]]()
    for subject in estate.subjects.values():
        if only is not None and subject.node not in only:
            continue
        for policy in applying(subject.dataset.namespace):
            outcome = _outcome(policy, subject, estate, fitting)
            if policy.restricts_reading:
                if outcome is not Outcome.OK and isinstance(subject.node, FieldName):
                    hidden.setdefault(id(policy), set()).add(subject.node)
                continue
            counts[outcome] += 1
            if outcome is not Outcome.OK:
                findings.append(_finding(policy, subject, estate, outcome, is_certified=subject.dataset in certified))
    findings.sort(key=_order)
    return Evaluation(
        findings=tuple(findings),
        counts=counts,
        hidden=estate.hidden,
        complete=estate.complete,
        idle=tuple(one.name for one in policies if one.name not in fitting),
        restrictions=tuple(
            ReadingRestriction(policy=one.name, readers=one.readers, fields=frozenset(hidden[id(one)]))
            for one in policies
            if id(one) in hidden
        ),
    )


def _order(one: Finding) -> tuple[bool, str, str]:
    return one.outcome is not Outcome.VIOLATED, one.policy.name, str(one.node)


def outcome_of(policy: Policy, subject: Subject, estate: Estate) -> Outcome:
    """What a policy says of one node."""
    return _outcome(policy, subject, estate, set())


def _outcome(policy: Policy, subject: Subject, estate: Estate, fitting: set[str]) -> Outcome:
    """The same; adds the policy's name to those that are about some node, if this is one."""
    if holds(policy.scope, subject, estate) is False:
        return Outcome.OK
    fitting.add(policy.name)
    match every(_violation(policy, subject, estate)):
        case True:
            return Outcome.VIOLATED
        case False:
            return Outcome.OK
        case None:
            return Outcome.NOT_EVALUATED


def failed_examples(policy: Policy) -> Iterator[tuple[Example, Outcome]]:
    """The examples of which the policy says something else than it must, and what."""
    for one in policy.examples:
        found = outcome_of(policy, one.subject, one.estate)
        if policy.outcome_word(found) != policy.outcome_word(one.outcome):
            yield one, found


def _violation(policy: Policy, subject: Subject, estate: Estate) -> Iterator[Truth]:
    """What has to hold for a violation, the cheapest first."""
    yield holds(policy.where, subject, estate)
    if policy.required is not None:
        yield inverse(holds(policy.required, subject, estate))
    if policy.unless:
        yield inverse(some(holds(one, subject, estate) for one in policy.unless))


def _finding(policy: Policy, subject: Subject, estate: Estate, outcome: Outcome, *, is_certified: bool) -> Finding:
    is_open = outcome is Outcome.NOT_EVALUATED
    conditions = [policy.where, *([policy.required] if policy.required else [])]
    paths = (witness(one, subject, estate) for one in conditions)
    return Finding(
        policy=policy,
        node=subject.node,
        outcome=outcome,
        path=next((one for one in paths if one), ()),
        unknown=_why_open(policy, subject) if is_open else "",
        blocks=not is_open or is_certified,
    )


def _why_open(policy: Policy, subject: Subject) -> str:
    """The first reason that what the policy asks is not known of the node."""
    if subject.unknown:
        return subject.unknown
    if any(one.outlives_sources is not None for one in policy.conditions):
        if subject.retention.is_unreadable:
            return "its retention is not written as a number of days, such as 30d"
        if subject.sources.days is not None and subject.retention.days is None:
            return "nobody says how long it is kept: tag it retention=30d"
    if subject.is_certified is None and any(one.certified is not None for one in policy.conditions):
        return "its certification is not evaluated"
    return _ASSUMED
