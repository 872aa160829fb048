"""The findings of declared rules and lineage baselines, by their recorded transitions: a violated policy, lineage that
differs from the accepted one, a certification that lapsed. Pure.

The first two are tickets. So is a certification that lapsed, unless a finding of its data says why.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from whence.govern.incidents.findings import Finding, FindingKind, finding_id
from whence.govern.rule_states.records import RuleTransition

_LAPSED = frozenset({"not certified", "not evaluated"})


def policy_findings(transitions: Iterable[RuleTransition]) -> Iterator[Finding]:
    """The findings of policies, by their transitions in order."""
    return _while_violated((one for one in transitions if one.record.rule_kind == "policy"), _policy)


def lineage_findings(transitions: Iterable[RuleTransition]) -> Iterator[Finding]:
    """The findings of lineage that differs from its baseline, by their transitions in order."""
    return _while_violated((one for one in transitions if one.record.rule_kind == "lineage"), _drift)


def _while_violated(
    transitions: Iterable[RuleTransition], begin: Callable[[RuleTransition], Finding]
) -> Iterator[Finding]:
    """One finding for each violation. That it is not evaluated any more ends none."""
    current: dict[str, Finding] = {}
    for one in transitions:
        found = current.pop(one.record.subject, None)
        if found is None and one.record.after == "violated":
            current[one.record.subject] = begin(one)
        elif found is not None and one.record.after in ("violated", "not evaluated"):
            current[one.record.subject] = found
        elif found is not None:
            yield replace(found, until=one.time)
    yield from current.values()


def certification_findings(transitions: Iterable[RuleTransition], others: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of certifications that lapsed, by their transitions in order. `others`: what is wrong with data."""
    data = list(others)
    current: dict[str, Finding] = {}
    for one in transitions:
        if one.record.rule_kind != "certification":
            continue
        found = current.pop(one.record.subject, None)
        if found is None and one.record.before == "certified" and one.record.after in _LAPSED:
            current[one.record.subject] = _lapse(one, data)
        elif found is not None and one.record.after in _LAPSED:
            current[one.record.subject] = found
        elif found is not None:
            yield replace(found, until=one.time)
    yield from current.values()


def _policy(one: RuleTransition) -> Finding:
    columns = one.record.columns
    return Finding(
        id=finding_id(FindingKind.POLICY, one.dataset, one.record.rule, one.id),
        kind=FindingKind.POLICY,
        rule=one.record.rule,
        dataset=one.dataset,
        column=columns[0] if len(columns) == 1 else "",
        since=one.time,
        ticket_since=one.time,
        notify_rule="a policy is violated",
        reason=one.record.reason,
    )


def _drift(one: RuleTransition) -> Finding:
    columns = one.record.columns
    return Finding(
        id=finding_id(FindingKind.LINEAGE, one.dataset, one.id),
        kind=FindingKind.LINEAGE,
        rule="lineage",
        dataset=one.dataset,
        column=columns[0] if len(columns) == 1 else "",
        since=one.time,
        ticket_since=one.time,
        notify_rule="its lineage differs from the accepted one",
        reason=one.record.reason,
    )


def _lapse(one: RuleTransition, data: Iterable[Finding]) -> Finding:
    is_explained = any(other.dataset == one.dataset and other.is_open_at(one.time) for other in data)
    what = "a finding of its data says why" if is_explained else "its certification lapsed"
    return Finding(
        id=finding_id(FindingKind.CERTIFICATION, one.dataset, one.id),
        kind=FindingKind.CERTIFICATION,
        rule="certification",
        dataset=one.dataset,
        since=one.time,
        ticket_since=None if is_explained else one.time,
        notify_rule=what,
        reason=f"{one.record.after}: {one.record.reason}" if one.record.reason else one.record.after,
    )
